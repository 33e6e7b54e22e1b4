// The load client. It sends requests and checks every character of the answers.
import { Connection } from './connection.mjs';
import { sleep } from './processes.mjs';
import { scriptNamed, sharedNow, textOf } from './scripts.mjs';
import { CompletionsCheck } from './completions-check.mjs';
import { StreamCheck } from './stream-check.mjs';

/**
 * @typedef {object} StreamResult
 * @property {number} status the HTTP status, or 0 if there was no answer
 * @property {boolean} complete whether everything arrived in order, with one valid end and nothing after the end
 * @property {string | undefined} wrong the first violation of the API contract
 * @property {string | undefined} errorCode the code of an `event: error` or of a JSON error
 * @property {number} chunks the number of chunks of the server, which may join several chunks of the provider
 * @property {number} firstChunkMs the time from the request to the first chunk
 */

/** @typedef {import('./connection.mjs').Target} Target */

const MESSAGES = [
  {
    role: 'system',
    content: 'You are a careful assistant. Answer in short sentences, and say so when you do not know. '.repeat(2),
  },
  {
    role: 'user',
    content: 'How does a relay keep the order of what it hands on, and what happens when its reader is slow?',
  },
];

const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'search',
      description:
        'Searches the documents of the company, and returns the titles and the first lines of the best ones.',
      parameters: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'The words to search for.' },
          limit: { type: 'integer', minimum: 1, maximum: 20 },
        },
        required: ['query'],
      },
    },
  },
  {
    type: 'function',
    function: {
      name: 'read',
      description: 'Reads one document.',
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    },
  },
];

/** @param {Target} target */
const authorization = ({ key }) => (key === undefined ? '' : `Authorization: Bearer ${key}\r\n`);

/**
 * @param {Target} target
 * @param {string} scriptName
 * @param {string} [idempotencyKey] makes the stream durable
 */
export function streamRequest(target, scriptName, idempotencyKey) {
  const body = JSON.stringify({
    model: `bench/${scriptName}`,
    messages: MESSAGES,
    temperature: 0.7,
    ...(target.isOfCompletions && { stream: true }),
    ...(target.offersTools && { tools: TOOLS }),
  });
  const durable = idempotencyKey === undefined ? '' : `Idempotency-Key: ${idempotencyKey}\r\n`;
  return (
    `POST /api/v1/${target.isOfCompletions ? 'chat/completions' : 'chat/stream'} HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\n${authorization(target)}${durable}` +
    `Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/**
 * @param {Target} target
 * @param {string} path
 */
export const getRequest = (target, path) =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\nAccept: */*\r\n\r\n`;

/** @type {Map<string, { script: import('./scripts.mjs').Script, text: string }>} */
const expectations = new Map();

/** @param {string} scriptName */
function expectationOf(scriptName) {
  let expectation = expectations.get(scriptName);
  if (expectation === undefined) {
    const script = scriptNamed(scriptName);
    if (script === undefined) throw new Error(`No script is named ${scriptName}.`);
    expectations.set(scriptName, (expectation = { script, text: script.cycle.length > 0 ? textOf(script) : '' }));
  }
  return expectation;
}

/**
 * Sends one chat request on a connection and reads its stream.
 *
 * @param {Connection} connection
 * @param {Target} target
 * @param {string} scriptName
 * @param {{ onStamp?: (latencyMs: number, sentAt: number) => void, onChunk?: () => void, idempotencyKey?: string }} options
 * @returns {Promise<StreamResult>}
 */
export async function readStream(connection, target, scriptName, { onStamp, onChunk, idempotencyKey } = {}) {
  const { script, text } = expectationOf(scriptName);
  const check = target.isOfCompletions
    ? new CompletionsCheck(text, script, onStamp)
    : new StreamCheck(text, script, onStamp, target.isOfNest === true || idempotencyKey !== undefined);
  let status = 0;
  let errorBody = '';
  const sentAt = sharedNow();
  const whole = await connection.exchange(streamRequest(target, scriptName, idempotencyKey), {
    onHead: (value) => (status = value),
    onBody: (bytes) => {
      if (status !== 200) {
        errorBody += bytes;
        return;
      }
      check.feed(bytes);
      onChunk?.();
    },
  });
  const errorCode = errorBody === '' ? check.errorCode : (/"code":"(\w+)"/.exec(errorBody)?.[1] ?? 'no code');
  return {
    status,
    complete: whole && status === 200 && check.complete,
    wrong: check.wrong,
    errorCode,
    chunks: check.chunks,
    firstChunkMs: check.firstChunkAt === undefined ? NaN : check.firstChunkAt - sentAt,
  };
}

/**
 * Runs `count` jobs, `width` at a time. Each of the parallel lines of jobs has one connection, which its jobs reuse.
 *
 * @template Result
 * @param {Target} target
 * @param {{ count: number, width: number }} size
 * @param {(connection: Connection) => Promise<Result>} job
 * @returns {Promise<Result[]>}
 */
export async function load(target, { count, width }, job) {
  const results = [];
  let started = 0;
  const line = async () => {
    let connection = await Connection.open(target);
    while (started < count) {
      started += 1;
      if (connection.closed) connection = await Connection.open(target);
      results.push(await job(connection));
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, line));
  return results;
}

/**
 * Begins jobs at a fixed rate, whether or not the jobs before have ended. A job takes a connection that no other job uses.
 *
 * @template Result
 * @param {Target} target
 * @param {{ count: number, perSecond: number }} size
 * @param {(connection: Connection) => Promise<Result>} job
 * @returns {Promise<Result[]>}
 */
export async function loadAtRate(target, { count, perSecond }, job) {
  const spare = [];
  const running = [];
  const one = async () => {
    let connection = spare.pop();
    if (connection === undefined || connection.closed) connection = await Connection.open(target);
    const result = await job(connection);
    spare.push(connection);
    return result;
  };
  const startedAt = performance.now();
  while (running.length < count) {
    const due = Math.min(count, ((performance.now() - startedAt) / 1000) * perSecond);
    while (running.length < due) running.push(one());
    await sleep(1);
  }
  const results = await Promise.all(running);
  for (const connection of spare) connection.close();
  return results;
}

/**
 * @param {readonly StreamResult[]} results
 * @throws {Error} if a stream did not arrive completely
 */
export function assertComplete(results) {
  const broken = results.filter(({ complete }) => !complete);
  if (broken.length > 0) {
    throw new Error(
      `${broken.length} of ${results.length} streams are not complete; the first: ${JSON.stringify(broken[0])}`,
    );
  }
}
