// The lean relay that the service is compared with, as a separate process. It does the minimum that turns a provider's stream
// into the stream of this service: no authentication, no limits, no validation, no records. It writes what one read of the
// provider's socket brought in one write.
import { createServer } from 'node:http';
import { Relayed } from './relayed.mjs';

const models = process.env.MODELS_JSON ?? '{"models":[]}';
const MODELS_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(models)),
};
const HEALTH = '{"status":"healthy","version":"1.0.0"}';
const HEALTH_HEADERS = { ...MODELS_HEADERS, 'Content-Length': String(HEALTH.length) };
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' };
const LAST = 'data: {"content":"","done":true}\n\n';

const server = createServer((req, res) => {
  if (req.method === 'GET') {
    const isHealth = req.url === '/api/v1/health';
    res.writeHead(200, isHealth ? HEALTH_HEADERS : MODELS_HEADERS);
    res.end(isHealth ? HEALTH : models);
    return;
  }
  const parts = [];
  req.on('data', (part) => parts.push(part));
  req.on('end', () => relay(JSON.parse(Buffer.concat(parts).toString()), res));
});

function relay(request, res) {
  const relayed = new Relayed(request, {
    onStart: () => res.writeHead(200, STREAM_HEADERS),
    onContents: (contents) => {
      if (!res.write(blocksOf(contents))) relayed.pause();
    },
    onEnd: (contents) => res.end(blocksOf(contents) + LAST),
    onFailure: () => {
      if (res.headersSent) res.destroy();
      else res.writeHead(502).end();
    },
  });
  res.on('close', () => {
    if (!res.writableFinished) relayed.stop();
  });
  res.on('drain', () => relayed.resume());
}

function blocksOf(contents) {
  let blocks = '';
  for (const content of contents) blocks += `data: ${JSON.stringify({ content, done: false })}\n\n`;
  return blocks;
}

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', 4096, () =>
  console.log(JSON.stringify({ port: server.address().port })),
);
