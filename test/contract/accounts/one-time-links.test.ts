import { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { Invitations } from '../../../src/accounts/links/invitations.service.js';
import { PasswordResets } from '../../../src/accounts/links/password-resets.service.js';
import { testEngines } from '../../support/database.js';
import { PASSWORD } from '../../support/usual-password.js';
import { accountsSuite } from './accounts-app.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe.each(await testEngines())('one-time links on $name', (engine) => {
  let now: number;
  let count = 0;
  const suite = accountsSuite(engine, { now: () => now });
  const invitations = () => suite.get(Invitations);
  const resets = () => suite.get(PasswordResets);

  beforeEach(() => {
    now = Date.parse('2026-11-27T00:00:00Z') + (count += 1) * 1_000 * DAY_MS;
  });
  const invite = (name: string, validDays: number) =>
    invitations().create({
      ...{ email: `${name}-${count}@example.com`, tier: 'free', role: 'member', createdBy: 'ada', validDays },
    });
  const isOpen = async ({ token }: { readonly token: string }) => (await invitations().find(token)) !== undefined;

  it('invite for as long as they were made for, also when they replace another one', async () => {
    const [short, long] = [await invite('short', 1), await invite('long', 7)];
    now += DAY_MS - 1;
    const replaced = await invite('short', 7);
    expect([await isOpen(short), await isOpen(long), await isOpen(replaced)]).toEqual([false, true, true]);
    now += 6 * DAY_MS;
    expect([await isOpen(long), await isOpen(replaced)]).toEqual([true, true]);
    now += 1;
    // It removes the expired ones only.
    await invite('other', 7);
    expect([await isOpen(long), await isOpen(replaced)]).toEqual([false, true]);
    now += DAY_MS;
    expect(await isOpen(replaced)).toBe(false);
  });

  it('are at most 1,000 open invitations', async () => {
    await invite('last', 7);
    const [at, later] = [now, now + DAY_MS].map((time) => new Date(time).toISOString());
    const rows = Array.from(
      { length: 1_000 },
      (_, n) => `('i${n}', 'invitation', 'h${n}', 'e${n}@example.com', 'free', 'member', 'ada', '${at}', '${later}')`,
    );
    const columns = 'id, kind, hashed_token, email, tier, role, created_by, created_at, expires_at';
    await suite.get(DataSource).query(`INSERT INTO one_time_links (${columns}) VALUES ${rows.join(', ')}`);
    await expect(invite('one-more', 7)).rejects.toMatchObject({ code: 'invalid_request' });
    now += DAY_MS;
    expect(await isOpen(await invite('one-more', 7))).toBe(true);
  });

  it('set a password for 24 hours, also when they replace another one', async () => {
    const { id } = await suite.get(AccountsService).create({ email: `reset-${count}@example.com`, password: PASSWORD });
    const first = await resets().create(id, 'ada');
    now += DAY_MS - 1;
    expect((await resets().find(first.token))?.id).toBe(id);
    const second = await resets().create(id, 'ada');
    now += DAY_MS - 1;
    expect((await resets().find(second.token))?.id).toBe(id);
    expect(await resets().find(first.token)).toBeUndefined();
    now += 1;
    expect(await resets().find(second.token)).toBeUndefined();
  });
});
