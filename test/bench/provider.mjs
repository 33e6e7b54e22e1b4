// A scripted provider as a separate process. It serves the OpenAI-compatible streaming endpoint on a bare socket. As many
// bytes as possible are encoded in advance, so that the servers under test are the bottleneck. Each event is one HTTP chunk,
// as providers send them. GET /control/counters returns the numbers of open streams and connections, and of sent events and
// bytes.
import { createServer } from 'node:net';
import { PacedStreams } from './paced-streams.mjs';
import { scriptNamed, stamp, STAMP_LENGTH } from './scripts.mjs';

const HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n' +
  'x-request-id: req_bench\r\nTransfer-Encoding: chunked\r\n\r\n';

const counters = { connections: 0, streams: 0, requests: 0, finished: 0, events: 0, bytes: 0 };

const httpChunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const sseEvent = (json) => httpChunk(`data: ${json}\n\n`);
const completionChunk = (model, delta, finishReason) =>
  JSON.stringify({
    id: 'chatcmpl-BenchK3yW0zqHnJ5cTfRbQdVsXmPa',
    object: 'chat.completion.chunk',
    created: 1760000000,
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_5e0c1a7d9b',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  });

/** The encoded parts of a script's answer. */
class Answer {
  /**
   * @param {string} model
   * @param {import('./scripts.mjs').Script} script
   */
  constructor(model, script) {
    this.script = script;
    const role = { role: 'assistant', content: '' };
    const call = {
      index: 0,
      id: 'call_BenchK3yW0zqHnJ5cT',
      type: 'function',
      function: { name: 'search', arguments: '' },
    };
    const piece = (text) =>
      script.callsTool ? { tool_calls: [{ index: 0, function: { arguments: text } }] } : { content: text };
    this.start = HEAD + sseEvent(completionChunk(model, role, null));
    if (script.callsTool) this.start += sseEvent(completionChunk(model, { tool_calls: [call] }, null));
    this.finish = sseEvent(completionChunk(model, {}, script.callsTool ? 'tool_calls' : 'stop'));
    const usage = { prompt_tokens: 90, completion_tokens: script.events, total_tokens: 90 + script.events };
    this.usage = sseEvent(
      completionChunk(model, {}, null).replace(/"choices":.*/, `"choices":[],"usage":${JSON.stringify(usage)}}`),
    );
    this.done = `${sseEvent('[DONE]')}0\r\n\r\n`;
    const events = script.cycle.map((text) => `data: ${completionChunk(model, piece(text), null)}\n\n`);
    const encoded = (some) =>
      Buffer.from(script.isPacked && some.length > 0 ? httpChunk(some.join('')) : some.map(httpChunk).join(''));
    this.cycle = encoded(events);
    this.partOfCycle = encoded(events.slice(0, script.events % events.length));
    const [before, after] = sseEvent(completionChunk(model, { content: '#'.repeat(STAMP_LENGTH) }, null)).split(/#+/);
    this.stamped = (number) => before + stamp(number) + after;
  }
}

/** @type {Map<string, Answer>} */
const answers = new Map();
const paced = new PacedStreams();

/**
 * @param {import('node:net').Socket} socket
 * @param {{ model: string, stream_options?: { include_usage?: boolean } }} request
 * @param {() => void} onFinished called when the connection is free for the next request
 */
function play(socket, request, onFinished) {
  const { model } = request;
  const script = scriptNamed(model) ?? { status: 404, kind: 'refuse' };
  if (script.kind === 'refuse') {
    const body = JSON.stringify({ error: { message: 'Refused by the script.', type: 'bench', code: 'refused' } });
    socket.write(
      `HTTP/1.1 ${script.status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    onFinished();
    return;
  }
  let answer = answers.get(model);
  if (answer === undefined) answers.set(model, (answer = new Answer(model, script)));
  const end = answer.finish + (request.stream_options?.include_usage ? answer.usage : '') + answer.done;
  const finish = () => {
    counters.finished += 1;
    send(socket, end);
    onFinished();
  };
  if (script.kind === 'paced') {
    let number = 0;
    send(socket, answer.start);
    paced.add(script.everyMs, () => {
      if (socket.destroyed) return false;
      counters.events += 1;
      send(socket, answer.stamped(number));
      number += 1;
      if (number < script.events) return true;
      finish();
      return false;
    });
    return;
  }
  burst(socket, answer, () => {
    if (script.kind === 'burst') finish();
    if (script.kind === 'cut') socket.destroySoon();
  });
}

/**
 * Sends all events of an answer, one cycle at a time. Waits whenever the socket does not accept more bytes.
 *
 * @param {import('node:net').Socket} socket
 * @param {Answer} answer
 * @param {() => void} onSent
 */
function burst(socket, answer, onSent) {
  const { cycle, events } = answer.script;
  let left = events;
  if (events <= cycle.length) {
    // A short answer is sent in one write.
    counters.events += events;
    socket.cork();
    send(socket, answer.start);
    send(socket, events === cycle.length ? answer.cycle : answer.partOfCycle);
    onSent();
    socket.uncork();
    return;
  }
  send(socket, answer.start);
  const more = () => {
    while (left > 0) {
      if (socket.destroyed) return;
      if (socket.writableNeedDrain) {
        socket.once('drain', more);
        return;
      }
      const count = Math.min(left, cycle.length);
      left -= count;
      counters.events += count;
      send(socket, count === cycle.length ? answer.cycle : answer.partOfCycle);
    }
    onSent();
  };
  more();
}

function send(socket, bytes) {
  counters.bytes += bytes.length;
  socket.write(bytes);
}

/**
 * Reads the requests of a connection, one at a time. It supports only the HTTP features that the clients of this bench use.
 */
function serve(socket) {
  let input = '';
  let busy = false;
  let counted = false;
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  const next = () => {
    const headEnd = input.indexOf('\r\n\r\n');
    if (busy || headEnd === -1) return;
    const head = input.slice(0, headEnd + 2);
    const bodyStart = headEnd + 4;
    let body = '';
    let end = bodyStart;
    const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head);
    if (length !== null) {
      end += Number(length[1]);
      if (input.length < end) return;
      body = input.slice(bodyStart, end);
    } else if (/\r\ntransfer-encoding: *chunked\r\n/i.test(head)) {
      const last = input.indexOf('0\r\n\r\n', bodyStart);
      if (last === -1) return;
      end = last + 5;
      for (let at = bodyStart; at < last;) {
        const sizeEnd = input.indexOf('\r\n', at);
        const size = parseInt(input.slice(at, sizeEnd), 16);
        body += input.slice(sizeEnd + 2, sizeEnd + 2 + size);
        at = sizeEnd + 4 + size;
      }
    }
    input = input.slice(end);
    if (head.startsWith('GET /control/counters ')) {
      const text = JSON.stringify(counters);
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      );
      return;
    }
    if (!head.startsWith('POST /v1/chat/completions ')) {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    if (!counted) counters.connections += 1;
    counted = true;
    busy = true;
    counters.requests += 1;
    counters.streams += 1;
    play(socket, JSON.parse(body), () => {
      busy = false;
      counters.streams -= 1;
      queueMicrotask(next);
    });
  };
  socket.on('data', (text) => {
    input += text;
    next();
  });
  // Some clients of the bench leave in the middle of a stream on purpose.
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    if (counted) counters.connections -= 1;
    if (busy) counters.streams -= 1;
  });
}

const server = createServer({ highWaterMark: 65_536 }, serve);
server.listen(0, '127.0.0.1', 4096, () => console.log(JSON.stringify({ port: server.address().port })));
