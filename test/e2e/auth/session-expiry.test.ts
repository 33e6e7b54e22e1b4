import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { SessionUseRecorder } from '../../../src/accounts/sessions/sessions.service.js';
import { DatabaseClock } from '../../../src/platform/database/database-clock.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { beginning } from '../../support/scripts.js';
import { SignInPagesModule } from '../../support/sign-in-pages.js';
import { openStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { WebClient } from '../../support/web-client.js';
import { wireOf } from '../../support/wire.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe.each(await testEngines())('a session on $name', (engine) => {
  let database: TestDatabase;
  let stage: Stage;
  let ada: WebClient;
  /** How far the clock was moved. Time goes on from test to test, as what is kept must not lie in the future. */
  let movedMs = 0;

  beforeAll(async () => {
    database = await engine.create();
    const url = urlOf(database);
    stage = await setStage(1, { modules: [SignInPagesModule], env: { DATABASE_URL: url } });
    const clock = stage.service.app.get(DatabaseClock, { strict: false });
    const now = clock.now.bind(clock);
    vi.spyOn(clock, 'now').mockImplementation(() => now() + movedMs);
    await new WebClient(stage.origin).signUp();
  });
  afterAll(async () => {
    await stage.clear();
    await database.drop();
  });
  beforeEach(async () => {
    ada = new WebClient(stage.origin);
    await ada.signIn();
  });
  const isSignedIn = async () => (await ada.get('/private')).status === 200;
  const uses = () => stage.service.app.get(SessionUseRecorder, { strict: false });
  const later = async (ms: number) => {
    // Not only in this process's memory.
    await uses().flush();
    movedMs += ms;
  };

  it('ends when it is not used for seven days', async () => {
    await later(7 * DAY_MS - MINUTE_MS);
    expect(await isSignedIn()).toBe(true);
    await later(7 * DAY_MS);
    expect(await isSignedIn()).toBe(false);
  });

  it('goes on while it is used, and ends after thirty days all the same', async () => {
    for (let day = 0; day < 29; day++) {
      await later(DAY_MS);
      expect(await isSignedIn()).toBe(true);
    }
    await later(DAY_MS - MINUTE_MS);
    expect(await isSignedIn()).toBe(true);
    await later(MINUTE_MS);
    expect(await isSignedIn()).toBe(false);
  });

  it('that has ended by itself opens no stream, and is refused where a session is not needed, too', async () => {
    await later(8 * DAY_MS);
    expect((await openStream(stage.origin, { headers: ada.asScript })).status).toBe(401);
    expect(await ada.email()).toBeNull();
  });

  it('ends its open streams when it expires', async () => {
    stage.provider.answers(beginning('Hi'));
    const answer = await openStream(stage.origin, { headers: ada.asScript });
    await answer.block(1);
    await later(8 * DAY_MS);
    expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
  });

  it('does not become valid again by a lookup after its end', async () => {
    await later(7 * DAY_MS);
    expect(await isSignedIn()).toBe(false);
    await later(1000);
    expect(await isSignedIn()).toBe(false);
  });
});
