import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the role of an account. Existing accounts, and accounts that replicas of the previous version create, are members. */
export class AddAccountRole1765500001000 implements MigrationInterface {
  readonly name = 'AddAccountRole1765500001000';

  // The method of TypeORM for columns would copy the whole table on SQLite.
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE accounts ADD COLUMN role text NOT NULL DEFAULT 'member'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE accounts DROP COLUMN role');
  }
}
