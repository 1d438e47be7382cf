'use strict';

const $ = id => document.getElementById(id);
const KEPT = 500;          // messages on the page
const FIRST_PAUSE = 500;   // ms until the first new attempt
const LONGEST_PAUSE = 15000;

let socket = null;
let pause = FIRST_PAUSE;

function show(text, name) {
  const list = $('messages');
  const line = document.createElement('li');
  if (name) {
    const who = document.createElement('b');
    who.textContent = name + ': ';
    line.append(who);
  } else {
    line.className = 'note';
  }
  line.append(text);
  const room = list.parentElement;
  const atEnd = room.scrollHeight - room.scrollTop - room.clientHeight < 40;
  list.append(line);
  while (list.children.length > KEPT) list.firstChild.remove();
  if (atEnd) line.scrollIntoView({ block: 'end' });
}

function hear({ what, name, text, present }) {
  if (what === 'said') {
    show(text, name);
    return;
  }
  show(`${name} has ${what}`);
  $('state').textContent = present === 1 ? 'You are alone here.' : `${present} are here.`;
}

function connect() {
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  socket = new WebSocket(`${scheme}//${location.host}/api/chat?name=${encodeURIComponent($('name').value.trim())}`);
  socket.onopen = () => { pause = FIRST_PAUSE; };
  socket.onmessage = event => hear(JSON.parse(event.data));
  // Not all at once: a server that comes back should not be met by a wave.
  socket.onclose = () => {
    $('state').textContent = 'The connection is lost; trying again…';
    setTimeout(connect, pause * (0.5 + Math.random()));
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  };
}

$('join').addEventListener('submit', event => {
  event.preventDefault();
  if (!$('name').value.trim()) return;
  $('join').hidden = true;
  $('say').hidden = false;
  $('text').focus();
  connect();
});

$('say').addEventListener('submit', event => {
  event.preventDefault();
  if (!socket || socket.readyState !== WebSocket.OPEN) return;
  socket.send($('text').value);
  $('text').value = '';
});
