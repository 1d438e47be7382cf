// What real clients see: a browser (Chromium), npm's ws and Python's websockets. Starts the binary that CLOUDGATE names on
// a copy of the demo and some functions of the tests. One line for each case; the exit status tells.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import WebSocket from 'ws';

const here = dirname(fileURLToPath(import.meta.url));
const project = join(here, '../..');
const binary = process.env.CLOUDGATE ?? join(project, 'cloudgate');
const browserPath = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
const PATIENCE = 20000; // ms

// ---- the server ----

const folder = mkdtempSync(join(tmpdir(), 'cloudgate-browser-'));
cpSync(join(project, 'public'), join(folder, 'public'), { recursive: true });
for (const source of ['functions/chat.c', 'tests/stories/news.c', 'tests/e2e/functions/socket.c'])
  cpSync(join(project, source), join(folder, 'functions', source.split('/').pop()));
execFileSync(binary, ['build', folder], { stdio: ['ignore', 'ignore', 'inherit'] });

async function start() {
  const child = spawn(binary, [folder], { env: { ...process.env, HOST: '127.0.0.1', PORT: '0', THREADS: '2' } });
  let output = '';
  child.stderr.pipe(process.stderr);
  for await (const piece of child.stdout) {
    output += piece;
    const found = output.match(/Listening on (http:\/\/\S+)/);
    if (found) return { child, url: found[1] };
  }
  throw new Error('the server did not start: ' + output);
}

async function until(check, what) {
  const end = Date.now() + PATIENCE;
  while (!(await check())) {
    if (Date.now() > end) throw new Error('in vain: ' + what);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

// ---- a browser ----

async function joinChat(browser, url, name) {
  const page = await browser.newPage();
  const heard = [];
  page.on('websocket', socket => socket.on('framereceived', ({ payload }) => heard.push(JSON.parse(payload))));
  page.on('pageerror', error => { throw error; });
  await page.goto(url + '/chat.html');
  await page.fill('#name', name);
  await page.click('#join button');
  await until(() => heard.some(one => one.what === 'joined' && one.name === name), name + ' joins');
  return { page, heard, name };
}

async function say({ page, heard, name }, text) {
  await page.fill('#text', text);
  await page.click('#say button');
  await until(() => heard.some(one => one.what === 'said' && one.text === text), name + ' hears its own words');
  return heard.find(one => one.what === 'said' && one.text === text).loop;
}

// Windows on both loops: the kernel chooses, so some are opened until it is so.
async function windowsOnBothLoops(browser, url) {
  const first = await joinChat(browser, url, 'ann');
  const loop = await say(first, 'anybody here?');
  for (let i = 0; i < 40; i++) {
    const next = await joinChat(browser, url, 'bob' + i);
    if ((await say(next, 'me, ' + i)) !== loop) return [first, next];
    await next.page.close();
  }
  throw new Error('all windows are on one loop');
}

async function chatBetweenTwoWindows(browser, { url }) {
  const [ann, bob] = await windowsOnBothLoops(browser, url);
  for (const text of ['hello', '<b>not bold</b>', 'κόσμε 😀']) {
    await say(ann, text);
    await bob.page.getByText(`ann: ${text}`, { exact: true }).waitFor({ timeout: PATIENCE });
  }
  await ann.page.setViewportSize({ width: 360, height: 640 });
  const width = await ann.page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 360, `on a phone the page is ${width} wide`);
  await ann.page.close();
  await bob.page.getByText('ann has left', { exact: true }).waitFor({ timeout: PATIENCE });
  await bob.page.close();
}

async function chatComesBackByItself(browser, { url, child }) {
  const ann = await joinChat(browser, url, 'ann');
  const worker = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
  process.kill(Number(worker), 'SIGKILL');
  await until(() => ann.heard.filter(one => one.what === 'joined' && one.name === 'ann').length > 1, 'ann comes back');
  await say(ann, 'here I am again');
  await ann.page.close();
}

async function eventSource(browser, { url }) {
  const page = await browser.newPage();
  await page.goto(url + '/');
  const heard = await page.evaluate(async () => {
    const got = [];
    const source = new EventSource('/api/news');
    await new Promise(resolve => { source.onopen = resolve; });
    const all = new Promise(resolve => {
      source.onmessage = event => {
        got.push([event.data, Number(event.lastEventId)]);
        if (got.length === 20) resolve();
      };
    });
    for (let i = 0; i < 20; i++) await fetch('/api/news', { method: 'POST', body: `news ${i}\nand more` });
    await all;
    source.close();
    return got;
  });
  heard.forEach(([data, id], i) => {
    assert.equal(data, `news ${i}\nand more`);
    if (i > 0) assert.ok(id > heard[i - 1][1]);
  });
  await page.close();
}

// ---- npm's ws ----

async function npmWs({ url }) {
  const socket = new WebSocket(url.replace('http', 'ws') + '/api/socket?name=npm', { perMessageDeflate: true });
  await once(socket, 'open');
  assert.equal(socket.extensions, 'permessage-deflate');
  for (const text of ['', 'hello', 'x'.repeat(100000), 'κόσμε'.repeat(1000)]) {
    socket.send(text);
    const [data, isBinary] = await once(socket, 'message');
    assert.equal(isBinary, false);
    assert.equal(data.toString(), text);
  }
  const bytes = Buffer.from(Array.from({ length: 70000 }, (_, i) => (i * 31) & 255));
  socket.send(bytes);
  const [data, isBinary] = await once(socket, 'message');
  assert.ok(isBinary && bytes.equals(data));
  socket.ping('are you there?');
  const [pong] = await once(socket, 'pong');
  assert.equal(pong.toString(), 'are you there?');
  socket.close(4000, 'bye');
  const [code, reason] = await once(socket, 'close');
  assert.deepEqual([code, reason.toString()], [4000, '']);
  await until(async () => (await (await fetch(url + '/api/socket?closed=npm')).text()) === '4000 bye', 'the function is told');
}

async function npmWsIsRefused({ url }) {
  const socket = new WebSocket(url.replace('http', 'ws') + '/api/socket?refuse=418');
  const [error] = await once(socket, 'error');
  assert.match(error.message, /418/);
}

// ---- Python's websockets ----

function pythonWebsockets({ url }) {
  const python = '/usr/bin/python3'; // Debian's, which has the package
  const result = spawnSync(python, [join(here, 'client.py'), url.replace('http', 'ws') + '/api/socket'], { encoding: 'utf8' });
  assert.equal(result.status, 0, result.stderr || String(result.error));
}

// ---- all of them ----

let failed = 0;

async function run(name, action) {
  try {
    await action();
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${name}: ${error.stack}`);
  }
}

const server = await start();
const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
await run('chat between two windows', () => chatBetweenTwoWindows(browser, server));
await run('chat comes back by itself', () => chatComesBackByItself(browser, server));
await run('EventSource', () => eventSource(browser, server));
await run('npm ws', () => npmWs(server));
await run('npm ws is refused', () => npmWsIsRefused(server));
await run('Python websockets', () => pythonWebsockets(server));
await browser.close();
server.child.kill('SIGTERM');
const [status] = await once(server.child, 'exit');
await run('the server ends well', () => assert.equal(status, 0));
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
