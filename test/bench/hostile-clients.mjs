// The hostile clients of hostile-soak.mjs, in a separate process. Each client repeats one attack until the process gets
// SIGTERM. The process then prints the numbers of its rounds and answers as one line of JSON, and exits.
//
//   node test/bench/hostile-clients.mjs <port> <key> [<words of the kinds to run>]
import { randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

const [port, key, only = ''] = [Number(process.argv[2]), process.argv[3], process.argv[4]];

// In reality these clients run on other machines. Their CPU use here must not slow down the clients that are measured.
setPriority(19);

const BODY_LIMIT = 4 * 1024 * 1024;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const STREAM = '/api/v1/chat/stream';

/** @type {Record<string, Record<string, number>>} the number of answers, by kind of client and by status or other outcome */
const answers = {};
let isOver = false;
process.once('SIGTERM', () => (isOver = true));

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends a request and reads the answer. Resolves with the status, or with `cut` if the connection broke off. */
function send(kind, { method = 'POST', path = STREAM, headers = {}, body = '' }) {
  return new Promise((resolve) => {
    const done = (outcome) => {
      answers[kind] ??= {};
      answers[kind][outcome] = (answers[kind][outcome] ?? 0) + 1;
      resolve(outcome);
    };
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        agent,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      },
      (answer) => {
        answer.resume();
        answer.once('close', () => done(answer.statusCode));
      },
    );
    sent.once('error', () => done('cut'));
    sent.setTimeout(60_000, () => sent.destroy());
    sent.end(body);
  });
}

/** Opens a bare connection, on which a client can send any bytes. */
function openSocket() {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => resolve(socket)).once('error', reject);
    socket.on('error', () => socket.destroy());
  });
}

function head(path, length, method = 'POST') {
  const type = length === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n${type}\r\n`;
}

const chat = (model, messages, more = {}) => JSON.stringify({ model, messages, ...more });
const repeated = (text, bytes) => text.repeat(Math.floor(bytes / text.length));

const unknownMembers = `{${Array.from({ length: 300_000 }, (_, n) => `"m${n}":1`).join(',')}}`;
const emptyMessages = `{"model":"a/b","messages":[${repeated('{},', BODY_LIMIT - 100).slice(0, -1)}]}`;
const deep = repeated(`{"${'n'.repeat(2400)}":`, 2_900_000);
const longNames = `{"${'n'.repeat(90_000)}":[${repeated('{"toString":1},', 86_000).slice(0, -1)}]}`;
const brackets = repeated('[', BODY_LIMIT - 10);
const escapes = chat('bench/short-20', [{ role: 'user', content: '@' }]).replace('@', repeated('\\u0000', 4_100_000));
const spaces = chat(
  'builtin/eliza',
  Array.from({ length: 999 }, () => ({ role: 'user', content: ' '.repeat(2000) })),
  { max_tokens: 1 },
);
const echo = chat('builtin/eliza', [{ role: 'user', content: `echo ${repeated('word ', 4_000_000)}` }], {
  max_tokens: 1,
});

/** A random API key with a valid format and checksum that no account has. */
function unknownKey() {
  const body = `csk_${Array.from({ length: 43 }, () => BASE62[randomInt(62)]).join('')}`;
  let checksum = '';
  for (let rest = crc32(body); rest > 0; rest = Math.floor(rest / 62)) checksum = BASE62[rest % 62] + checksum;
  return body + checksum.padStart(6, '0');
}

let next = 0;
const oneOf = (list) => list[(next += 1) % list.length];
const wrongBodies = [unknownMembers, emptyMessages, deep, longNames, brackets];

/** One round of each client. Each client repeats its round until the soak is over. */
const KINDS = {
  'wrong bodies of up to 4 MiB': () => send('wrong bodies of up to 4 MiB', { body: oneOf(wrongBodies) }),
  'large bodies that are right': () => send('large bodies that are right', { body: oneOf([escapes, spaces, echo]) }),
  'media types of spaces': () =>
    send('media types of spaces', {
      path: '/sign-in',
      headers: { 'content-type': `application/json${' '.repeat(15_000)}x`, authorization: '' },
      body: 'email=a',
    }),
  'bodies without their last byte': async () => {
    const sockets = await Promise.all(Array.from({ length: 25 }, openSocket));
    for (const socket of sockets) socket.resume().write(head(STREAM, escapes.length) + escapes.slice(0, -1));
    await sleep(10_000);
    for (const socket of sockets) socket.destroy();
    return 'held';
  },
  'pipelined streams': async () => {
    const socket = await openSocket();
    const body = chat('bench/paced-300x100', [{ role: 'user', content: 'Hello' }]);
    socket.write((head(STREAM, body.length) + body).repeat(20));
    await Promise.race([new Promise((resolve) => socket.once('data', resolve)), sleep(2000)]);
    await sleep(200);
    socket.destroy();
    return 'left';
  },
  'unknown keys': () =>
    Promise.all(
      Array.from({ length: 20 }, () =>
        send('unknown keys', { headers: { authorization: `Bearer ${unknownKey()}` }, body: '{}' }),
      ),
    ),
  'usage of a year': () =>
    Promise.all(
      Array.from({ length: 30 }, () =>
        send('usage of a year', { method: 'GET', path: `/api/v1/usage?from=${daysAgo(364)}&to=${daysAgo(0)}` }),
      ),
    ),
  'guessed passwords': () =>
    send('guessed passwords', {
      path: '/sign-in',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: `http://127.0.0.1:${port}`,
        authorization: '',
        'x-forwarded-for': `203.0.113.${randomInt(256)}:${randomInt(65_536)}`,
      },
      body: `email=a${randomInt(1000)}%40example.com&password=wrong+guess+${randomInt(1e9)}`,
    }),
  'answers that are not read': async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, openSocket));
    for (const socket of sockets) socket.pause().write(head('/api/openapi.json', undefined, 'GET').repeat(50));
    await sleep(5000);
    for (const socket of sockets) socket.destroy();
    return 'not read';
  },
  'headers that never end': async () => {
    const sockets = await Promise.all(Array.from({ length: 100 }, openSocket));
    for (const socket of sockets) socket.resume().write(`GET /api/v1/health HTTP/1.1\r\nX-Long: ${'a'.repeat(8000)}`);
    await sleep(5000);
    for (const socket of sockets) socket.destroy();
    return 'held';
  },
};

function daysAgo(days) {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

const kinds = Object.entries(KINDS).filter(([kind]) => kind.includes(only));
const rounds = {};
await Promise.all(
  kinds.map(async ([kind, round]) => {
    rounds[kind] = 0;
    while (!isOver) {
      await round().catch(() => undefined);
      rounds[kind] += 1;
      // The pause is short, so that clients repeat cheap requests often, but it keeps the client from using a whole core.
      await sleep(5);
    }
  }),
);
agent.destroy();
console.log(JSON.stringify({ rounds, answers }));
process.exit(0);
