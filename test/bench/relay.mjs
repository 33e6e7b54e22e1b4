// The bare relay that the service is compared with, as a separate process. It does the minimum that turns a provider's stream
// into the stream of this service with node:http: no authentication, no limits, no validation, no records.
import { Agent, createServer, request } from 'node:http';

const providerUrl = `${process.env.PROVIDER_URL}/chat/completions`;
const models = process.env.MODELS_JSON ?? '{"models":[]}';
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 4096 });

const server = createServer((req, res) => {
  if (req.method === 'GET') {
    res.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(models),
    });
    res.end(models);
    return;
  }
  let body = '';
  req.setEncoding('utf8');
  req.on('data', (text) => (body += text));
  req.on('end', () => relay(JSON.parse(body), res));
});

function relay({ model, messages, temperature = 0.7 }, res) {
  const body = JSON.stringify({ model: model.slice(model.indexOf('/') + 1), messages, temperature, stream: true });
  const upstream = request(providerUrl, {
    method: 'POST',
    agent,
    headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
  });
  upstream.on('response', (response) => {
    if (response.statusCode !== 200) {
      response.resume();
      res.writeHead(502).end();
      return;
    }
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    let rest = '';
    let finished = false;
    response.setEncoding('utf8');
    response.on('data', (text) => {
      rest += text;
      let start = 0;
      let writable = true;
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n', start)) {
        const payload = rest.slice(start + 'data: '.length, end);
        start = end + 2;
        if (payload === '[DONE]') {
          finished = true;
          continue;
        }
        const content = JSON.parse(payload).choices[0]?.delta.content;
        if (content) writable = res.write(`data: ${JSON.stringify({ content, done: false })}\n\n`);
      }
      rest = rest.slice(start);
      if (!writable) {
        response.pause();
        res.once('drain', () => response.resume());
      }
    });
    response.on('end', () => {
      if (finished) res.end('data: {"content":"","done":true}\n\n');
      else res.destroy();
    });
    response.on('error', () => res.destroy());
  });
  upstream.on('error', () => res.destroy());
  res.on('close', () => {
    if (!res.writableFinished) upstream.destroy();
  });
  upstream.end(body);
}

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', 4096, () =>
  console.log(JSON.stringify({ port: server.address().port })),
);
