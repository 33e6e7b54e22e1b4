import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds to the row of a process the key of the lock that it holds while it is connected. */
export class AddWriterLock1765500000000 implements MigrationInterface {
  readonly name = 'AddWriterLock1765500000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE usage_writers ADD COLUMN lock_key integer');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE usage_writers DROP COLUMN lock_key');
  }
}
