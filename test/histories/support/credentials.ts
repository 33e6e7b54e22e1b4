import { API_KEY_FORMAT, generateToken, hashSecret } from '../../../src/accounts/credentials/secrets.js';
import { START_MS, type SharedDatabase } from './simulated-database.js';

/** An API key or a session, with the secret that its owner sends. */
export interface Credential {
  readonly kind: 'api_key' | 'session';
  readonly id: string;
  readonly secret: string;
  readonly accountId: string;
}

export const ACCOUNTS = ['ada', 'ben'];
const KINDS = ['api_key', 'api_key', 'api_key', 'session'] as const;
const NOW = new Date(START_MS).toISOString();
const LATER = '2099-01-01T00:00:00.000Z';

export const CREDENTIALS: readonly Credential[] = ACCOUNTS.flatMap((accountId, account) =>
  KINDS.map((kind, number) => {
    const secret = kind === 'session' ? generateToken() : API_KEY_FORMAT.generate();
    const id = kind === 'session' ? hashSecret(secret) : `00000000-0000-4000-8000-00000000000${account * 4 + number}`;
    return { kind, id, secret, accountId };
  }),
);

/** Stores all accounts and credentials. */
export async function storeCredentials({ source }: SharedDatabase): Promise<void> {
  for (const id of ACCOUNTS) {
    const sql = "INSERT INTO accounts (id, email, password_hash, tier, created_at) VALUES (?, ?, '', 'free', ?)";
    await source.query(sql, [id, id, NOW]);
  }
  for (const { kind, id, secret, accountId } of CREDENTIALS) {
    if (kind === 'session') {
      const columns = 'id, account_id, created_at, last_seen_at, expires_at';
      await source.query(`INSERT INTO sessions (${columns}) VALUES (?, ?, ?, ?, ?)`, [
        id,
        accountId,
        NOW,
        LATER,
        LATER,
      ]);
    } else {
      const columns = 'id, account_id, name, prefix, hashed_key, created_at';
      const values = [id, accountId, id, 'key', hashSecret(secret), NOW];
      await source.query(`INSERT INTO api_keys (${columns}) VALUES (?, ?, ?, ?, ?, ?)`, values);
    }
  }
}

const VALID = `SELECT of_account.id FROM accounts JOIN (
    SELECT id, account_id FROM api_keys WHERE revoked_at IS NULL UNION ALL SELECT id, account_id FROM sessions
  ) AS of_account ON of_account.account_id = accounts.id WHERE accounts.disabled_at IS NULL`;

/** Whether a credential is valid in the database, and since when. */
interface Validity {
  readonly isValid: boolean;
  readonly since: number;
}

/** The validity of all credentials. All are valid at the beginning. */
export class CredentialValidity {
  private readonly validity = new Map<Credential, Validity>();

  of(credential: Credential): Validity {
    return this.validity.get(credential) ?? { isValid: true, since: -Infinity };
  }

  /** Reads the validity from the database. Returns the credentials whose validity has changed. */
  read(shared: SharedDatabase, nowMs: number): readonly Credential[] {
    const valid = new Set(shared.rows<{ id: string }>(VALID).map(({ id }) => id));
    const changed = CREDENTIALS.filter((credential) => valid.has(credential.id) !== this.of(credential).isValid);
    for (const credential of changed) {
      this.validity.set(credential, { isValid: !this.of(credential).isValid, since: nowMs });
    }
    return changed;
  }
}

/** Adds so many entries of other changes to the audit log at the same time that a replica reads them in two pages. */
export function crowdLog(shared: SharedDatabase, nowMs: number): void {
  shared.rows(
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 600)
    INSERT INTO audit_entries (id, at, actor, action, target)
    SELECT printf('%016d', (SELECT MAX(rowid) FROM audit_entries) + n), ?, 'service', 'key.created', 'key:other'
    FROM numbers RETURNING id`,
    new Date(START_MS + nowMs).toISOString(),
  );
}
