import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import type { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import type { ApiKeyCreation } from '../../../src/accounts/api-keys/api-key-creation.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { AccountChanges } from '../../../src/accounts/credentials/account-changes.js';
import { CredentialWatch } from '../../../src/accounts/ended/credential-watch.js';
import type { OperatorTree } from '../../../src/accounts/operator-keys/operator-tree.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import type { Principal } from '../../../src/auth/principal/principal.js';
import { OpenStreams } from '../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../src/platform/common/drain-state.js';
import { ShedLoad } from '../../../src/platform/common/shed-load.js';
import { HourlyJobs } from '../../../src/platform/common/timers/periodic-task.js';
import type { Config } from '../../../src/platform/config/config.js';
import { PostgresAvailability } from '../../../src/platform/database/postgres/postgres-availability.js';
import type { Credential } from './credentials.js';
import { Reach } from './reach.js';
import { START_MS, type SimulatedDatabase } from './simulated-database.js';
import type { SimulatedProbe } from './simulated-probe.js';
import type { VirtualTime } from './virtual-time.js';
import type { SimulatedProcess, SimulatedReplica } from './world.js';

const CONFIG = { maxStreams: 1_000, tiers: new Map() } as unknown as Config;
const TIER = { name: 'free' } as Principal['tier'];
/** The stores and services that these requests do not reach. */
const UNUSED = {} as never;

/** The credentials and the open streams of one simulated replica, with the real objects of the service. */
export class RevocationReplica implements SimulatedReplica {
  readonly connection: { set: SimulatedDatabase['set'] };
  readonly reach: Reach;
  readonly apiKeys: ApiKeysService;
  readonly sessions: SessionsService;
  readonly states: AccountStates;
  readonly watch: CredentialWatch;
  readonly streams: OpenStreams;
  private readonly changes: AccountChanges;
  private readonly availability: PostgresAvailability;
  private readonly keys: ApiKeyVerifier;

  /** @param clockMs how far the clock of this replica is ahead. */
  constructor(
    time: VirtualTime,
    readonly owner: SimulatedProcess,
    readonly database: SimulatedDatabase,
    probe: SimulatedProbe,
    clockMs: number,
  ) {
    const now = (): number => START_MS + clockMs + time.nowMs;
    const credentials = database.asCredentialDatabase;
    const { statements } = database;
    const shedLoad = new ShedLoad();
    this.reach = new Reach(time);
    this.connection = {
      set: (state) => {
        database.set(state);
        probe.set(state);
      },
    };
    this.changes = new AccountChanges(credentials);
    this.availability = new PostgresAvailability(probe.url);
    const known = [this.availability, shedLoad, CONFIG, now] as const;
    this.keys = new ApiKeyVerifier(credentials, this.changes, ...known);
    this.apiKeys = new ApiKeysService(UNUSED, {} as ApiKeyCreation, this.changes, statements, now);
    const uses = { touch: () => undefined } as never;
    const ofSessions = [UNUSED, UNUSED, credentials, this.changes, uses, statements, this.availability] as const;
    this.sessions = new SessionsService(...ofSessions, shedLoad, new HourlyJobs(), CONFIG, now);
    const accounts = { get: (id: string) => Promise.resolve({ id }) } as unknown as AccountsService;
    const tree = { endings: () => [], ended: () => Promise.resolve() } as unknown as OperatorTree;
    this.states = new AccountStates(UNUSED, accounts, statements, this.changes, tree, now);
    this.watch = new CredentialWatch(credentials, this.changes, now);
    this.streams = new OpenStreams(this.watch, new DrainState(), shedLoad, CONFIG, now);
  }

  /** Begins to work, as at the start of a process. */
  start(): void {
    this.availability.onModuleInit();
    this.changes.onApplicationBootstrap();
  }

  /** Returns who sends the credential. `undefined`: the credential is refused. */
  async verify({ kind, secret }: Credential): Promise<Principal | undefined> {
    const tier = TIER;
    if (kind === 'session') {
      const session = await this.sessions.verify(secret);
      return session && { accountId: session.account.id, tier, credential: { kind, ...session } };
    }
    const key = await this.keys.verify(secret);
    return key && { accountId: key.account.id, tier, credential: { kind, ...key } };
  }

  /** Ends a credential permanently. */
  async end({ kind, id }: Credential): Promise<void> {
    await (kind === 'session' ? this.sessions.end(id) : this.apiKeys.revoke(id));
  }
}
