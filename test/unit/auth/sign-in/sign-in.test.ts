import { beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/accounts/account/account.entity.js';
import type { AccountsService } from '../../../../src/accounts/accounts/accounts.service.js';
import type {
  NewSession,
  SessionsService,
  VerifiedSession,
} from '../../../../src/accounts/sessions/sessions.service.js';
import { keyOf } from '../../../../src/auth/attempts/attempt-counters.js';
import { SessionStart } from '../../../../src/auth/session/session-start.js';
import { PasswordChange } from '../../../../src/auth/sign-in/password-change.js';
import { SignInLimits } from '../../../../src/auth/sign-in/sign-in-limits.js';
import { SignIn } from '../../../../src/auth/sign-in/sign-in.js';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import type { Config } from '../../../../src/platform/config/config.js';
import { RecordedCounters } from '../recorded-counters.js';

const ADDRESS = '2001:db8:1:2::3';
const SITE = '2001:db8:1::/48';
/** Of the changes, for the audit log. */
const AUTHOR = { actor: 'account:ada', source: ADDRESS };
const adaWith = (passwordHash: string) =>
  ({ id: 'ada', email: 'ada@example.com', passwordHash, disabledAt: null }) as Account;
const ADA = adaWith('hash 1');
const CREDENTIALS = { email: ' Ada@Example.com ', password: 'correct horse battery' };
const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="chat"' };
const SESSION: NewSession = { token: 'token', sessionId: 'new', expiresAt: new Date(0) };
const FRESH = { address: ADDRESS, sessionId: undefined };
const AWAY = new ServiceError('unavailable', 'The database is away.');

const FAILURES = ['network', 'site', 'both', 'account'].map((name) => `withdraw sign-in:${name}`);
const SUCCESSES = ['network', 'site', 'account'].map((name) => `withdraw sign-in:${name}_successes`);

/** The accounts and sessions, with all calls in the order in which they end. */
class Stage {
  readonly counters = new RecordedCounters();
  readonly arguments: unknown[][] = [];
  /** What each call gives, or throws. */
  readonly answers: Record<string, unknown> = {
    verifyPassword: ADA,
    create: ADA,
    changePassword: { account: adaWith('hash 2'), revokedKeys: 3 },
    findById: ADA,
    begin: SESSION,
    end: undefined,
  };
  readonly accounts = {
    verifyPassword: this.method('verifyPassword'),
    create: this.method('create'),
    changePassword: this.method('changePassword'),
    findById: this.method('findById'),
  } as unknown as AccountsService;
  readonly sessions = { create: this.method('begin'), end: this.method('end') } as unknown as SessionsService;
  readonly starts = new SessionStart(this.accounts, this.sessions);
  readonly limits = new SignInLimits(this.counters);
  readonly change = new PasswordChange(this.accounts, this.starts, this.limits);

  signIn(signUp: 'open' | 'closed' = 'open'): SignIn {
    return new SignIn(this.accounts, this.sessions, this.starts, this.limits, { signUp } as Config);
  }

  /** The calls without the counts, which come first. */
  get calls(): string[] {
    return this.counters.calls.filter((call) => !call.startsWith('count '));
  }

  private method(name: string) {
    return async (...values: unknown[]): Promise<unknown> => {
      await new Promise(setImmediate);
      this.counters.calls.push(name);
      this.arguments.push([name, ...values]);
      const answer = this.answers[name];
      if (answer instanceof Error) throw answer;
      return answer;
    };
  }
}

describe('a sign-in', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });

  it('begins a session, ends the session that the browser had, and then counts as a success', async () => {
    await expect(stage.signIn().signIn(CREDENTIALS, { address: ADDRESS, sessionId: 'old' })).resolves.toBe(SESSION);
    expect(stage.calls).toEqual([
      ...['verifyPassword', 'begin', 'findById', 'end'],
      ...FAILURES,
      'remember sign-in:known',
    ]);
    expect(stage.arguments).toEqual([
      ['verifyPassword', CREDENTIALS.email, CREDENTIALS.password, { network: SITE }],
      ['begin', 'ada', undefined, ADDRESS],
      ['findById', 'ada'],
      ['end', 'old', AUTHOR],
    ]);
    expect(stage.counters.keys.get('sign-in:account')).toBe(keyOf('ada@example.com'));
  });

  it('ends no session of a browser that had none', async () => {
    await stage.signIn().signIn(CREDENTIALS, FRESH);
    expect(stage.calls).not.toContain('end');
  });

  it('with a wrong password counts as failed, before the answer', async () => {
    stage.answers['verifyPassword'] = undefined;
    await expect(stage.signIn().signIn(CREDENTIALS, FRESH)).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(/email.* or .*password.* incorrect/i) as string,
      headers: CHALLENGE,
    });
    expect(stage.calls).toEqual(['verifyPassword', ...SUCCESSES]);
  });

  it.each(['verifyPassword', 'begin', 'findById', 'end'])(
    'that could not be completed (%s failed) does not count',
    async (failed) => {
      stage.answers[failed] = AWAY;
      const signing = stage.signIn().signIn(CREDENTIALS, { address: ADDRESS, sessionId: 'old' });
      await expect(signing).rejects.toBe(AWAY);
      const order = ['verifyPassword', 'begin', 'findById', 'end'];
      expect(stage.calls).toEqual([...order.slice(0, order.indexOf(failed) + 1), ...FAILURES, ...SUCCESSES]);
    },
  );

  it('during which the password changes ends its own session, and does not count', async () => {
    stage.answers['findById'] = adaWith('hash 2');
    const signing = stage.signIn().signIn(CREDENTIALS, { address: ADDRESS, sessionId: 'old' });
    await expect(signing).rejects.toMatchObject({ code: 'unauthenticated', headers: CHALLENGE });
    expect(stage.calls).toEqual(['verifyPassword', 'begin', 'findById', 'end', ...FAILURES, ...SUCCESSES]);
    expect(stage.arguments.at(-1)).toEqual(['end', 'new']);
  });

  it('during which the account is deleted ends its own session', async () => {
    stage.answers['findById'] = null;
    await expect(stage.signIn().signIn(CREDENTIALS, FRESH)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(stage.arguments.at(-1)).toEqual(['end', 'new']);
  });

  it('that a limit refuses does no work', async () => {
    stage.counters.refused.set('sign-in:network', 1);
    await expect(stage.signIn().signIn(CREDENTIALS, FRESH)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    expect(stage.arguments).toEqual([]);
  });
});

describe('a sign-up', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });

  it('creates the account, makes the network known, begins a session, and ends the one that was there', async () => {
    const session = await stage.signIn().signUp(CREDENTIALS, { address: ADDRESS, sessionId: 'old' });
    expect(session).toBe(SESSION);
    expect(stage.calls).toEqual(['create', 'remember sign-in:known', 'begin', 'findById', 'end']);
    expect(stage.arguments[0]).toEqual(['create', CREDENTIALS, { network: SITE, source: ADDRESS }]);
    expect(stage.arguments.at(-1)).toEqual(['end', 'old', AUTHOR]);
    expect(stage.counters.keys.get('sign-up:account')).toBe(keyOf('ada@example.com'));
  });

  it('that is closed is refused before it is counted', async () => {
    await expect(stage.signIn('closed').signUp(CREDENTIALS, FRESH)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/closed.*operator/i) as string,
    });
    expect([stage.counters.calls, stage.arguments]).toEqual([[], []]);
  });

  it('stays counted when it fails, and makes no network known', async () => {
    stage.answers['create'] = AWAY;
    await expect(stage.signIn().signUp(CREDENTIALS, FRESH)).rejects.toBe(AWAY);
    expect(stage.counters.calls).toEqual([
      'count sign-up:network',
      'count sign-up:site',
      'count sign-up:account',
      'create',
    ]);
  });

  it('that a limit refuses does no work', async () => {
    stage.counters.refused.set('sign-up:account', 1);
    await expect(stage.signIn().signUp(CREDENTIALS, FRESH)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    expect(stage.arguments).toEqual([]);
  });
});

describe('a change of the password', () => {
  const SIGNED_IN = { sessionId: 'old', account: { id: 'ada', email: 'ada@example.com' } } as VerifiedSession;
  const PASSWORDS = { current: 'old horse', next: 'new horse', revokeKeys: true };
  let stage: Stage;
  const change = () => stage.change.change(SIGNED_IN, PASSWORDS, ADDRESS);

  beforeEach(() => {
    stage = new Stage();
    stage.answers['findById'] = adaWith('hash 2');
  });

  it('counts as a success before a new session begins', async () => {
    await expect(change()).resolves.toEqual({ ...SESSION, revokedKeys: 3 });
    expect(stage.calls).toEqual(['changePassword', ...FAILURES, 'remember sign-in:known', 'begin', 'findById']);
    expect(stage.arguments[0]).toEqual([
      ...['changePassword', 'ada', 'old horse', 'new horse'],
      { network: SITE, source: ADDRESS, revokeKeys: true },
    ]);
    expect(stage.counters.keys.get('sign-in:account')).toBe(keyOf('ada@example.com'));
  });

  it('with a wrong current password counts as a failed sign-in', async () => {
    const details = [
      { field: 'new_password', message: 'is short' },
      { field: 'current_password', message: 'is wrong' },
    ];
    const error = new ServiceError('invalid_request', 'The password is wrong.', { details });
    stage.answers['changePassword'] = error;
    await expect(change()).rejects.toBe(error);
    expect(stage.calls).toEqual(['changePassword', ...SUCCESSES]);
  });

  it.each([
    [
      'a new password that is refused',
      new ServiceError('invalid_request', 'Short.', { details: [{ field: 'new_password', message: '' }] }),
    ],
    ['no details', new ServiceError('unavailable', 'Away.')],
    ['an error of the database', new Error('The connection was cut.')],
    [
      'an error that looks like one of ours',
      Object.assign(new Error(''), { details: [{ field: 'current_password' }] }),
    ],
  ])('that ends with %s does not count', async (_, error) => {
    stage.answers['changePassword'] = error;
    await expect(change()).rejects.toBe(error);
    expect(stage.calls).toEqual(['changePassword', ...FAILURES, ...SUCCESSES]);
  });

  it('says that the password is changed when only the session could not begin', async () => {
    stage.answers['begin'] = AWAY;
    await expect(change()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/password was changed.*sign in.*new/i) as string,
      cause: AWAY,
    });
  });

  it('signs out when another change came between', async () => {
    stage.answers['findById'] = adaWith('hash 3');
    await expect(change()).rejects.toMatchObject({
      code: 'unauthenticated',
      message: expect.stringMatching(/password was also changed.*sign in again/i) as string,
      headers: CHALLENGE,
    });
    expect(stage.arguments.at(-1)).toEqual(['end', 'new']);
  });

  it('that a limit refuses does no work', async () => {
    stage.counters.refused.set('sign-in:both', 1);
    await expect(change()).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    expect(stage.arguments).toEqual([]);
  });
});
