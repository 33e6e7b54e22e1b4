import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex, FIRST_LIST_INDEXES } from './list-indexes.js';

/**
 * Adds the indexes for lists by time and for receipts, and drops the indexes that they replace.
 *
 * In a database with data, the indexes exist already: the start builds them before the transaction of the migrations, because
 * that takes long and must not lock the tables. The previous version can use the new indexes.
 */
export class AddListIndexes1765600000000 implements MigrationInterface {
  readonly name = 'AddListIndexes1765600000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const index of FIRST_LIST_INDEXES) {
      await queryRunner.query(createIndex(index));
      if (index.replaces !== undefined) await queryRunner.query(`DROP INDEX IF EXISTS "${index.replaces.name}"`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { name, table, replaces } of FIRST_LIST_INDEXES) {
      if (replaces !== undefined) await queryRunner.query(createIndex({ ...replaces, table }));
      await queryRunner.query(`DROP INDEX IF EXISTS "${name}"`);
    }
  }
}
