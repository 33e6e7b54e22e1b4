import type { QueryRunner } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../../../src/platform/database/migrations/all-migrations.js';

/** A connection on which each statement takes a moment. Keeps what it was statements, and whether it was statements too early. */
class SlowConnection {
  readonly statements: string[] = [];
  running = 0;
  most = 0;

  constructor(private readonly type: string) {}

  get queryRunner(): QueryRunner {
    const dataSource = { options: { type: this.type } };
    return new Proxy({ dataSource } as unknown as QueryRunner, {
      get: (target, name) => {
        if (name === 'dataSource' || name === 'then') return Reflect.get(target, name) as unknown;
        return (statement: unknown) => this.run(`${String(name)} ${String(statement)}`);
      },
    });
  }

  private async run(statement: string): Promise<void> {
    this.statements.push(statement);
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    await new Promise((resolve) => setImmediate(resolve));
    this.running -= 1;
  }
}

describe.each(['postgres', 'better-sqlite3'])('a migration on %s', (type) => {
  it.each(MIGRATIONS.map((migration) => [migration.name, migration] as const))(
    '%s does one thing after the other, and is over after the last',
    async (_, Migration) => {
      const connection = new SlowConnection(type);
      await new Migration().up(connection.queryRunner);
      expect(connection).toMatchObject({ running: 0, most: Math.min(1, connection.statements.length) });
    },
  );
});
