// Sends requests with unknown keys, or unknown session cookies, as fast as the service answers, and tells the statuses
// when told to stop. A thread of its own, so that the attack does not wait for the test.
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { API_KEY_FORMAT, generateToken } from '../../../dist/accounts/credentials/secrets.js';

const { origin, connections } = workerData;
const BODY = JSON.stringify({ model: 'acme/fast', messages: [{ role: 'user', content: 'Hello!' }] });

const agent = new Agent({ keepAlive: true, maxSockets: connections });
const statuses = {};
let stopped = false;

parentPort.once('message', () => {
  stopped = true;
});

await Promise.all(
  Array.from({ length: connections }, async (_, index) => {
    while (!stopped) {
      const status = await send(index % 2 === 0 ? byKey() : byCookie());
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }),
);
parentPort.postMessage(statuses);
agent.destroy();

function byKey() {
  const headers = { authorization: `Bearer ${API_KEY_FORMAT.generate()}`, 'content-type': 'application/json' };
  return { path: '/api/v1/chat/stream', method: 'POST', headers, body: BODY };
}

function byCookie() {
  return { path: '/api/v1/usage', method: 'GET', headers: { cookie: `__Host-session=${generateToken()}` } };
}

function send({ body, ...options }) {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(origin);
    request({ agent, hostname, port, ...options }, (response) => {
      response.resume().once('close', () => {
        resolve(response.statusCode);
      });
    })
      .on('error', ({ code }) => {
        resolve(code);
      })
      .end(body);
  });
}
