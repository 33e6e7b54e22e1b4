import { beforeAll, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { PasswordHashing } from '../../../src/accounts/passwords/password-hashing.js';
import { sqlite } from '../../support/database.js';
import { PASSWORD } from '../../support/usual-password.js';
import { accountsSuite } from './accounts-app.js';

const EMAIL = 'ada@example.com';
const NEXT = 'another horse battery';

/** Networks take turns at the hashes of passwords, so each hash must name the network that causes it. */
describe('the work for a password', () => {
  const suite = accountsSuite(sqlite);
  let accounts: AccountsService;
  const work: (readonly [what: string, network: string | undefined])[] = [];

  beforeAll(() => {
    accounts = suite.get(AccountsService);
    const hashing = suite.get(PasswordHashing);
    const [hash, verify] = [hashing.hash.bind(hashing), hashing.verify.bind(hashing)];
    vi.spyOn(hashing, 'hash').mockImplementation((password, network) => {
      work.push(['hash', network]);
      return hash(password, network);
    });
    vi.spyOn(hashing, 'verify').mockImplementation((passwordHash, password, network) => {
      work.push(['verify', network]);
      return verify(passwordHash, password, network);
    });
  });

  it('counts against the network that requests it, and without a network as the work of the operator', async () => {
    const { id } = await accounts.create({ email: EMAIL, password: PASSWORD }, { network: 'of the sign-up' });
    await accounts.verifyPassword(EMAIL, PASSWORD, { network: 'of the sign-in' });
    await accounts.verifyPassword('nobody@example.com', PASSWORD, { network: 'of a guess' });
    await accounts.changePassword(id, PASSWORD, NEXT, { network: 'of the change' });
    await accounts.setPassword(EMAIL, PASSWORD);

    expect(work).toEqual([
      ['hash', 'of the sign-up'],
      ['verify', 'of the sign-in'],
      ['verify', 'of a guess'],
      ['verify', 'of the change'],
      ['hash', 'of the change'],
      ['hash', undefined],
    ]);
  });
});
