import type { MigrationInterface, QueryRunner } from 'typeorm';

type Migration = new () => MigrationInterface;

/**
 * The migrations that add one column to `usage_records`. Existing records are not rewritten, so a column is empty in them or has a
 * constant as its default. The methods of TypeORM for columns would copy the whole table on SQLite, and lose its triggers.
 */
export const RECORD_COLUMN_MIGRATIONS: readonly Migration[] = [
  adds('AddDetachedStreams1765400000000', 'detached integer NOT NULL DEFAULT 0'),
  adds('AddToolCalls1766413000000', 'tool_calls integer'),
  adds('AddSurface1766414000000', 'surface text'),
];

/** @param definition the name of the column and its type, as in `ALTER TABLE … ADD COLUMN`. */
function adds(name: string, definition: `${string} ${string}`): Migration {
  const [column] = definition.split(' ', 1);
  const migration = class implements MigrationInterface {
    async up(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query(`ALTER TABLE usage_records ADD COLUMN ${definition}`);
    }

    async down(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query(`ALTER TABLE usage_records DROP COLUMN ${column}`);
    }
  };
  // TypeORM stores the name of the class, and reads the timestamp from it.
  return Object.defineProperty(migration, 'name', { value: name });
}
