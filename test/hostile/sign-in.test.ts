import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '../support/raw-request.js';
import { WebClient } from '../support/web-client.js';
import { MAX_HEALTH_MS, Target } from './support/target.js';

const WRONG = 'wrong horse battery';
const HOG = '203.0.113.200';
/** As many attempts at a time as the limits allow one network: ten for each account. */
const OWN_ACCOUNTS = 5;
const AT_ONCE = 10;
/** Far above what a sign-in takes on a busy machine, far below being kept out. */
const MAX_WAIT_MS = 15_000;

describe('signing in', () => {
  let target: Target;

  beforeAll(async () => {
    target = await Target.start({ env: { SIGN_UP: 'open', TRUST_PROXY: '1' } });
  });
  afterAll(() => target.stop());

  const from = (address: string) => new WebClient(target.origin, { 'x-forwarded-for': address });

  it('cannot be guessed more often with header lines of one’s own', async () => {
    const guess = async (n: number) => {
      const body = new URLSearchParams({ email: 'lines@example.com', password: WRONG }).toString();
      const lines = [
        'POST /sign-in HTTP/1.1',
        'Host: 127.0.0.1',
        `X-Forwarded-For: 10.1.0.${n}`,
        `x-forwarded-for: 10.2.0.${n}, "`,
        'X-Forwarded-For: 203.0.113.12',
        'Content-Type: application/x-www-form-urlencoded',
        `Content-Length: ${body.length}`,
        'Connection: close',
        '',
        body,
      ];
      return (await rawRequest(target.origin, lines.join('\r\n'))).slice(9, 12);
    };
    const statuses: string[] = [];
    for (let n = 0; n < 12; n++) statuses.push(await guess(n));
    expect(statuses).toEqual([...Array<string>(10).fill('401'), '429', '429']);
  });

  it('works for others while one network uses all the work that it may, with passwords that are right', async () => {
    const others = Array.from({ length: 15 }, (_, n) => ({ email: `other-${n}@example.com`, from: `198.51.100.${n}` }));
    for (const other of others) expect((await from(other.from).signUp(other.email)).status).toBe(303);
    const own = Array.from({ length: OWN_ACCOUNTS }, (_, n) => `own-${n}@example.com`);
    for (const email of own) expect((await from(HOG).signUp(email)).status).toBe(303);

    let isOver = false;
    const refused: number[] = [];
    const hammer = async (email: string) => {
      while (!isOver) {
        const { status } = await from(HOG).signIn(email);
        if (status !== 303) refused.push(status);
      }
    };
    const hammers = own.flatMap((email) => Array.from({ length: AT_ONCE }, () => hammer(email)));
    const answers: { status: number; ms: number }[] = [];
    const health = await target.healthDuring(async () => {
      for (const other of [others.slice(0, 5), others.slice(5, 10), others.slice(10)]) {
        answers.push(...(await Promise.all(other.map((each) => timed(() => from(each.from).signIn(each.email))))));
      }
    });
    isOver = true;
    await Promise.all(hammers);

    expect(answers.map(({ status }) => status)).toEqual(Array(others.length).fill(303));
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(MAX_WAIT_MS);
    expect(refused.length).toBeGreaterThan(0);
    expect(health.failed).toBe(0);
    expect(health.longestMs).toBeLessThan(MAX_HEALTH_MS);
    const shed = (await target.metrics()).find(
      ({ name, labels }) => name === 'chat_shed_total' && labels['reason'] === 'password_hashing',
    );
    expect(shed?.value).toBeGreaterThan(0);
  });
});

async function timed(signIn: () => Promise<{ readonly status: number }>): Promise<{ status: number; ms: number }> {
  const started = performance.now();
  const { status } = await signIn();
  return { status, ms: performance.now() - started };
}
