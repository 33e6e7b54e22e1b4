// Asks `/health` again and again, and answers with the longest wait when told to stop. A thread of its own: what the
// test does meanwhile must not count as the service's silence.
import { request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 20;

let longestMs = 0;
let answered = 0;
let failed = 0;
let stopped = false;

parentPort.once('message', () => {
  stopped = true;
});

parentPort.postMessage('watching');
while (!stopped) {
  const beganAt = performance.now();
  const isFine = await ask();
  longestMs = Math.max(longestMs, performance.now() - beganAt);
  if (isFine) answered += 1;
  else failed += 1;
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
parentPort.postMessage({ longestMs, answered, failed });

function ask() {
  return new Promise((resolve) => {
    request(`${workerData.origin}/api/v1/health`, { agent: false }, (response) => {
      response.resume().once('close', () => {
        resolve(response.statusCode === 200);
      });
    })
      .on('error', () => {
        resolve(false);
      })
      .end();
  });
}
