'use strict';

const $ = id => document.getElementById(id);

// ---- this connection ----

async function showFacts() {
  const navigation = performance.getEntriesByType('navigation')[0];
  const names = { 'http/1.1': 'HTTP/1.1', h2: 'HTTP/2' };
  const protocol = navigation && navigation.nextHopProtocol;
  $('fact-protocol').textContent = (names[protocol] || protocol || 'HTTP') + (location.protocol === 'https:' ? ', TLS' : '');
  $('fact-host').textContent = location.host;
  const times = [];
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    await (await fetch('/api/tests/simple', { cache: 'no-store' })).text();
    times.push(performance.now() - start);
  }
  $('fact-time').textContent = Math.min(...times).toFixed(1) + ' ms round trip';
}

// ---- the counter ----

let counterTurn = 0;

async function counter(method) {
  const turn = ++counterTurn;
  const response = await fetch('/api/counter', { method, cache: 'no-store' });
  const { value } = await response.json();
  // A slow answer must not overwrite a later one.
  if (turn === counterTurn) $('counter').textContent = value.toLocaleString('en');
}

function pollCounter() {
  if (!document.hidden) counter('GET').catch(() => { $('counter').textContent = '–'; });
}

// ---- the echo ----

async function echo(event) {
  event.preventDefault();
  const form = event.target;
  const answer = $('echo-answer');
  try {
    const body = new URLSearchParams(new FormData(form));
    answer.textContent = await (await fetch(form.action, { method: 'POST', body })).text();
  } catch (error) {
    answer.textContent = 'No answer: ' + error.message;
  }
  answer.hidden = false;
}

// ---- the upload ----

function sizeText(bytes) {
  if (bytes < 1000) return bytes + ' B';
  return bytes < 1e6 ? (bytes / 1e3).toFixed(1) + ' kB' : (bytes / 1e6).toFixed(1) + ' MB';
}

function showUpload(answer) {
  const rows = answer.files.filter(file => file.name || file.size).map(file => {
    const row = document.createElement('tr');
    for (const text of [file.name || '(no name)', file.type, sizeText(file.size)])
      row.append(Object.assign(document.createElement('td'), { textContent: text }));
    row.lastChild.className = 'number';
    return row;
  });
  $('upload-answer').tBodies[0].replaceChildren(...rows);
  $('upload-answer').hidden = rows.length === 0;
  const note = answer.fields.note ? ` Your note: “${answer.fields.note}”` : '';
  $('upload-status').textContent = (rows.length === 0 ? 'No file arrived.' : '') + note;
}

async function upload(event) {
  event.preventDefault();
  const form = event.target;
  $('upload-status').textContent = 'Uploading…';
  try {
    const response = await fetch(form.action, { method: 'POST', body: new FormData(form) });
    if (response.ok) showUpload(await response.json());
    else $('upload-status').textContent = response.status === 413 ? 'That is more than the server takes (413).'
      : `The server refused it (${response.status}).`;
  } catch (error) {
    $('upload-status').textContent = 'No answer: ' + error.message;
  }
}

function acceptDrops(zone, input) {
  const mark = on => event => {
    event.preventDefault();
    zone.classList.toggle('over', on);
  };
  zone.addEventListener('dragover', mark(true));
  zone.addEventListener('dragleave', mark(false));
  zone.addEventListener('drop', event => {
    mark(false)(event);
    if (event.dataTransfer.files.length === 0) return;
    input.files = event.dataTransfer.files;
    input.form.requestSubmit();
  });
}

// ---- the sources: a link without this script, the text itself with it ----

async function showSource(details) {
  if (!details.open || details.dataset.shown) return;
  details.dataset.shown = 'yes';
  const link = details.querySelector('a');
  const response = await fetch(link.href);
  if (!response.ok) return;
  const pre = Object.assign(document.createElement('pre'), { textContent: await response.text(), tabIndex: 0 });
  link.closest('p').replaceWith(pre);
}

for (const details of document.querySelectorAll('details[data-source]')) {
  details.addEventListener('toggle', () => showSource(details).catch(() => {}));
  showSource(details).catch(() => {});
}
$('counter-add').addEventListener('click', () => counter('POST').catch(() => {}));
$('echo').addEventListener('submit', echo);
$('upload').addEventListener('submit', upload);
acceptDrops($('drop'), $('files'));
document.addEventListener('visibilitychange', pollCounter);
setInterval(pollCounter, 1000);
pollCounter();
showFacts().catch(() => { $('fact-time').textContent = 'no answer'; });
