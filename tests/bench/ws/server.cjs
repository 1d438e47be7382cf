// The same with npm's ws: server.cjs FOLDER-OF-NODE-MODULES PORT
'use strict';
const { WebSocketServer, WebSocket } = require(process.argv[2] + '/ws');
const { createServer } = require('node:http');

const server = createServer((request, response) => response.end('ok'));
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
const fan = new Set();

sockets.on('connection', (socket, request) => {
  const all = request.url.includes('?fan');
  if (all) fan.add(socket);
  socket.on('close', () => fan.delete(socket));
  socket.on('message', (data, isBinary) => {
    if (!all) socket.send(data, { binary: isBinary });
    else for (const one of fan) if (one.readyState === WebSocket.OPEN) one.send(data, { binary: isBinary });
  });
});
server.listen(Number(process.argv[3]), '127.0.0.1', 4096);
