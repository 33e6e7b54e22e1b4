import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebClient } from '../support/web-client.js';
import { Target } from './support/target.js';
import { PASSWORD } from '../support/usual-password.js';

const PATH = '/settings/api-keys';
const EMAIL = 'mallory@example.com';
const OWNER = 'grace@example.com';
const MAX_KEYS = 100;

interface ListedKey {
  readonly id: string;
  readonly revoked_at: string | null;
}

describe('the keys of an account', () => {
  let target: Target;
  let mallory: WebClient;

  beforeAll(async () => {
    target = await Target.start({ env: { SIGN_UP: 'open' } });
    mallory = new WebClient(target.origin);
    expect((await mallory.signUp(EMAIL)).status).toBe(303);
  });
  afterAll(() => target.stop());

  const keys = async (email = EMAIL) =>
    (await target.installation.admin('key', 'list', '--email', email)) as unknown as ListedKey[];
  /** The statuses of so many requests, twenty at a time. */
  const statusesOf = async (requests: number, send: () => Promise<{ readonly status: number }>) => {
    const statuses: number[] = [];
    let left = requests;
    const worker = async () => {
      while (left-- > 0) statuses.push((await send()).status);
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    return statuses;
  };

  it('are a hundred at most, however fast they are requested, and health checks are answered meanwhile', async () => {
    let statuses: number[] = [];
    const health = await target.healthDuring(async () => {
      statuses = await statusesOf(500, () => mallory.postForm(PATH, { name: 'one more' }));
    });
    expect(statuses.filter((status) => status === 201)).toHaveLength(MAX_KEYS);
    expect(new Set(statuses)).toEqual(new Set([201, 429]));
    expect((await keys()).filter(({ revoked_at: revokedAt }) => revokedAt === null)).toHaveLength(MAX_KEYS);
    expect(health.failed).toBe(0);
  });

  it('are all revoked with the password when their owner says so, also those that a thief makes meanwhile', async () => {
    const [owner, thief] = [new WebClient(target.origin), new WebClient(target.origin)];
    await owner.signUp(OWNER);
    expect((await thief.signIn(OWNER)).status).toBe(303);
    const made = statusesOf(90, () => thief.postForm(PATH, { name: 'of a thief' }));
    const fields = { current_password: PASSWORD, new_password: 'another horse battery', revoke_keys: 'yes' };
    const answer = await owner.postForm('/settings/account/password', fields);
    const statuses = await made;
    expect(Number(/&revoked=(\d+)$/.exec(answer.headers.location ?? '')?.[1])).toBe(
      statuses.filter((status) => status === 201).length,
    );
    const listed = await keys(OWNER);
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.filter(({ revoked_at: revokedAt }) => revokedAt === null)).toEqual([]);
  });
});
