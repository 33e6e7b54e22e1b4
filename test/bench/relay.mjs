// The lean relay that the service is compared with, as a separate process. It does the minimum that turns a provider's stream
// into the stream of this service: no authentication, no limits, no validation, no records. It talks to the provider through
// undici's `dispatch`, without a stream object, and writes what one read of the provider's socket brought in one write.
import { createServer } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { Pool } from 'undici';

const { origin, pathname } = new URL(process.env.PROVIDER_URL);
const path = `${pathname}/chat/completions`;
const pool = new Pool(origin, { connections: null, headersTimeout: 0, bodyTimeout: 0 });
const models = process.env.MODELS_JSON ?? '{"models":[]}';
const MODELS_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(models)),
};
const HEALTH = '{"status":"healthy","version":"1.0.0"}';
const HEALTH_HEADERS = { ...MODELS_HEADERS, 'Content-Length': String(HEALTH.length) };
const STREAM_HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' };
const PROVIDER_HEADERS = { 'Content-Type': 'application/json' };
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
  req.on('end', () => {
    const { model, messages, temperature = 0.7 } = JSON.parse(Buffer.concat(parts).toString());
    const body = JSON.stringify({ model: model.slice(model.indexOf('/') + 1), messages, temperature, stream: true });
    pool.dispatch({ method: 'POST', path, headers: PROVIDER_HEADERS, body }, new Relayed(res));
  });
});

/** One answer of the provider on its way to the client. */
class Relayed {
  #response;
  #controller;
  #decoder = new StringDecoder();
  /** What arrived since the last write, and the part of an event before it. */
  #input = '';
  #writeIsDue = false;
  #isComplete = false;

  constructor(response) {
    this.#response = response;
    response.on('close', () => {
      if (!response.writableFinished) this.#controller?.abort(new Error('The client left.'));
    });
    response.on('drain', () => this.#controller.resume());
  }

  onRequestStart(controller) {
    this.#controller = controller;
    if (this.#response.destroyed) controller.abort(new Error('The client left.'));
  }

  onResponseStart(controller, status) {
    if (status === 200) this.#response.writeHead(200, STREAM_HEADERS);
    else controller.abort(new Error(`The provider answered ${status}.`));
  }

  // One read can bring several chunks. The microtask runs when undici has parsed all of the read.
  onResponseData(_controller, chunk) {
    this.#input += this.#decoder.write(chunk);
    if (this.#writeIsDue) return;
    this.#writeIsDue = true;
    queueMicrotask(() => this.#write());
  }

  onResponseEnd() {
    const blocks = this.#blocks();
    if (this.#isComplete) this.#response.end(blocks + LAST);
    else this.#response.destroy();
  }

  onResponseError() {
    if (this.#response.headersSent) this.#response.destroy();
    else this.#response.writeHead(502).end();
  }

  #write() {
    this.#writeIsDue = false;
    const blocks = this.#blocks();
    if (blocks !== '' && !this.#response.write(blocks)) this.#controller.pause();
  }

  /** Takes the complete events of the input, and returns their text as blocks of the client's stream. */
  #blocks() {
    const input = this.#input;
    let blocks = '';
    let start = 0;
    for (let end = input.indexOf('\n\n'); end !== -1; end = input.indexOf('\n\n', start)) {
      const payload = input.slice(start + 'data: '.length, end);
      start = end + 2;
      if (payload === '[DONE]') {
        this.#isComplete = true;
        continue;
      }
      const content = JSON.parse(payload).choices[0]?.delta.content;
      if (content) blocks += `data: ${JSON.stringify({ content, done: false })}\n\n`;
    }
    this.#input = input.slice(start);
    return blocks;
  }
}

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', 4096, () =>
  console.log(JSON.stringify({ port: server.address().port })),
);
