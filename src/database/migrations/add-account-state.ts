import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the time at which an operator has disabled an account. Existing accounts are active. */
export class AddAccountState1765300001000 implements MigrationInterface {
  readonly name = 'AddAccountState1765300001000';

  // The method of TypeORM for columns would copy the whole table on SQLite.
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE accounts ADD COLUMN disabled_at text');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE accounts DROP COLUMN disabled_at');
  }
}
