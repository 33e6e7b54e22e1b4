import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { AuditLog } from '../../../src/accounts/audit/audit-log.js';
import { API_KEY_FORMAT } from '../../../src/accounts/credentials/secrets.js';
import { OperatorKeys } from '../../../src/accounts/operator-keys/operator-keys.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { OperatorClient } from '../../support/operator-client.js';
import { beginning } from '../../support/scripts.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

const URL_OF_LEAK = 'https://github.com/octocat/Hello-World/blob/12345600b9cbe38a219f39a9941c9319b600c002/foo/bar.txt';

describe('POST /api/v1/keys/leaked', () => {
  let stage: Stage;
  /** Each test is a network of its own. */
  let networks = 0;

  beforeAll(async () => {
    stage = await setStage(1, { env: { TRUST_PROXY: '1' } });
  });
  afterAll(() => stage.clear());

  const post = (body: string, address = `192.0.2.${++networks}`) =>
    fetch(`${stage.origin}/api/v1/keys/leaked`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
      body,
    });
  const report = (tokens: readonly string[], address?: string) =>
    post(
      JSON.stringify(tokens.map((token) => ({ token, type: 'chat_key', url: URL_OF_LEAK, source: 'content' }))),
      address,
    );
  const createKey = async () => {
    const email = `owner-${++networks}@example.com`;
    const created = await stage.service.createKey({ email });
    const account = await stage.service.app.get(AccountsService, { strict: false }).findByEmail(email);
    return { ...created, accountId: account?.id ?? '' };
  };
  const auditOf = async (accountId: string) =>
    (await stage.service.app.get(AuditLog, { strict: false }).page({ accountId }, undefined, 10)).entries;

  it('revokes the keys that it recognises, ends their streams, and says which texts are keys', async () => {
    stage.provider.answers(beginning('Hi'));
    const { id, key, accountId } = await createKey();
    const running = await openStream(stage.origin, { key });
    await running.block(1);
    const unknown = API_KEY_FORMAT.generate();

    const response = await report([key, unknown, 'csk_nonsense', key], '203.0.113.7');

    expect(response.status).toBe(200);
    const verdict = (token: string, label: string) => ({ token_raw: token, token_type: 'chat_key', label });
    expect(await response.json()).toEqual([
      verdict(key, 'true_positive'),
      verdict(unknown, 'false_positive'),
      verdict('csk_nonsense', 'false_positive'),
      verdict(key, 'true_positive'),
    ]);
    expect((await stream(stage.origin, { key })).status).toBe(401);
    expect(await wireOf(running)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
    const [entry] = await auditOf(accountId);
    expect(entry).toMatchObject({
      actor: 'secret-scanner',
      action: 'key.revoked',
      target: expect.stringMatching(`^key:${id} \\(test of [^ ]+@example\\.com\\)$`) as string,
      source: '203.0.113.7',
    });
  });

  it('recognises a key that was revoked before, and changes nothing then', async () => {
    const { id, key, accountId } = await createKey();
    const keys = stage.service.app.get(ApiKeysService, { strict: false });
    const { revokedAt } = await keys.revoke(id);

    const response = await report([key]);

    expect(await response.json()).toMatchObject([{ label: 'true_positive' }]);
    expect((await keys.find(id, accountId)).revokedAt).toEqual(revokedAt);
    expect((await auditOf(accountId)).filter(({ action }) => action === 'key.revoked')).toHaveLength(1);
  });

  it('revokes operator keys, with an entry in the audit log', async () => {
    const operatorKeys = stage.service.app.get(OperatorKeys, { strict: false });
    const { id, key } = await operatorKeys.create({ name: 'portal', scope: 'write' });
    const client = new OperatorClient(stage.origin, key);
    expect((await client.get('accounts')).status).toBe(200);

    const response = await report([key], '203.0.113.8');

    expect(await response.json()).toMatchObject([{ token_raw: key, label: 'true_positive' }]);
    expect((await client.get('accounts')).status).toBe(401);
    const { entries } = await stage.service.app.get(AuditLog, { strict: false }).page({}, undefined, 1);
    expect(entries).toMatchObject([
      {
        ...{ actor: 'secret-scanner', source: '203.0.113.8' },
        ...{ action: 'operator_key.revoked', target: `operator-key:${id} (portal)` },
      },
    ]);
    expect(await (await report([key])).json()).toMatchObject([{ label: 'true_positive' }]);
  });

  it('needs only the token, and ignores what it does not know', async () => {
    const response = await post(JSON.stringify([{ token: 'text', commit: { id: 1 }, type: 7 }]));
    expect(await response.json()).toEqual([{ token_raw: 'text', token_type: '', label: 'false_positive' }]);
  });

  it.each([
    ['no object', null],
    ['a text', 'x'],
    ['a list', []],
    ['without a token', { type: 'x' }],
    ['with a token that is no text', { token: 1, url: 7 }],
    ['with a token that is longer than any key', { token: 'x'.repeat(501) }],
  ])('revokes the keys of a report although another item is invalid: %s', async (_, item) => {
    const [first, second] = [await createKey(), await createKey()];
    const response = await post(JSON.stringify([{ token: first.key }, item, { token: second.key }]));
    expect(response.status).toBe(200);
    const [one, invalid, two] = (await response.json()) as readonly object[];
    expect([one, two]).toMatchObject([first, second].map(({ key }) => ({ token_raw: key, label: 'true_positive' })));
    expect(invalid).toMatchObject({ token_raw: '', label: 'false_positive' });
    for (const { key } of [first, second]) expect((await stream(stage.origin, { key })).status).toBe(401);
  });

  it.each([
    ['an object', '{"token":"x"}', 400],
    ['more than 500 items', JSON.stringify(Array.from({ length: 501 }, () => ({ token: 'x' }))), 400],
    ['a body above 256 KiB', JSON.stringify([{ token: 'x', url: 'x'.repeat(256 * 1024) }]), 413],
  ])('refuses %s', async (_, body, status) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(JSON.stringify(await response.json()).length).toBeLessThan(1_000);
  });

  it('refuses a network above 60 reports in a minute, and no other network', async () => {
    const address = '198.51.100.9';
    const statuses: number[] = [];
    for (let n = 0; n < 61; n++) statuses.push((await report(['x'], address)).status);
    expect(statuses.slice(0, 60).every((status) => status === 200)).toBe(true);
    const refused = await report(['x'], address);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const { key } = await stage.service.createKey();
    expect(await (await report([key], '198.51.100.10')).json()).toMatchObject([{ label: 'true_positive' }]);
  });
});
