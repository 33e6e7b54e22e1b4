// Honest durable streams next to an attack: a provider that sends the time as a text every 100 ms, and a client that reads
// these streams. Both are in a thread of their own, so that the work of the test does not count as a delay of the service.
import { randomUUID } from 'node:crypto';
import { createServer, request } from 'node:http';
import { parentPort } from 'node:worker_threads';

const EVERY_MS = 100;

let latestMs = 0;
let chunks = 0;
const failures = [];

const provider = createServer((incoming, response) => {
  incoming.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = () => {
    const choices = [{ index: 0, delta: { content: `${performance.now()} ` } }];
    response.write(`data: ${JSON.stringify({ choices })}\n\n`);
  };
  send();
  const timer = setInterval(send, EVERY_MS);
  response.once('close', () => {
    clearInterval(timer);
  });
});

provider.listen(0, '127.0.0.1', () => {
  parentPort.postMessage({ origin: `http://127.0.0.1:${provider.address().port}` });
});

parentPort.on('message', ({ open, report }) => {
  if (open !== undefined) read(open);
  if (report === true) {
    parentPort.postMessage({ latestMs, chunks, failures });
    latestMs = 0;
    chunks = 0;
  }
});

function read({ origin, key, model }) {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'What time is it?' }] });
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  request(`${origin}/api/v1/chat/stream`, { method: 'POST', agent: false, headers }, (response) => {
    let unread = '';
    if (response.statusCode !== 200) failures.push(`status ${response.statusCode}`);
    response.setEncoding('utf8').on('data', (text) => {
      const blocks = (unread + text).split('\n\n');
      unread = blocks.pop();
      for (const block of blocks) note(block);
    });
    response.on('close', () => failures.push('the stream has ended'));
  })
    .on('error', (error) => failures.push(error.message))
    .end(body);
}

/** The oldest time in a chunk counts: the service joins texts that arrive together. */
function note(block) {
  if (block.startsWith('event: error')) failures.push(block);
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data === undefined) return;
  const sentAt = Number.parseFloat(JSON.parse(data).content);
  if (Number.isNaN(sentAt)) return;
  latestMs = Math.max(latestMs, performance.now() - sentAt);
  chunks += 1;
}
