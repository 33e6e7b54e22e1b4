import type { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = {
  /** The first key of a chain of rotated keys. A key without this value is the first of its chain. */
  origin_id: 'text',
  models: 'text',
  requests_per_minute: 'integer',
  tokens_per_day: 'integer',
  addresses: 'text',
};

/** Adds the limits of single API keys. Existing keys, and keys that replicas of the previous version create, have none. */
export class AddKeyLimits1766411000000 implements MigrationInterface {
  readonly name = 'AddKeyLimits1766411000000';

  // The method of TypeORM for columns would copy the whole table on SQLite.
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [column, type] of Object.entries(COLUMNS)) {
      await queryRunner.query(`ALTER TABLE api_keys ADD COLUMN ${column} ${type}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const column of Object.keys(COLUMNS)) await queryRunner.query(`ALTER TABLE api_keys DROP COLUMN ${column}`);
  }
}
