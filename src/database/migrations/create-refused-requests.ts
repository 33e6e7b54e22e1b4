import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { createIndex, OPERATOR_LIST_INDEXES } from './list-indexes.js';

/**
 * Creates the sample of refused requests, and adds the indexes for the lists of operators.
 *
 * In a database with data, the indexes exist already: the start builds them before the transaction of the migrations.
 */
export class CreateRefusedRequests1766421000000 implements MigrationInterface {
  readonly name = 'CreateRefusedRequests1766421000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'refused_requests',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'request_id', type: 'text' },
          { name: 'refused_at', type: 'text' },
          { name: 'account_id', type: 'text' },
          { name: 'credential', type: 'text' },
          { name: 'key_id', type: 'text', isNullable: true },
          { name: 'key_prefix', type: 'text', isNullable: true },
          { name: 'method', type: 'text' },
          { name: 'route', type: 'text', isNullable: true },
          { name: 'model', type: 'text', isNullable: true },
          { name: 'status', type: 'integer' },
          { name: 'error_code', type: 'text' },
          { name: 'reason', type: 'text', isNullable: true },
          { name: 'message', type: 'text', isNullable: true },
          { name: 'similar_count', type: 'integer' },
        ],
        indices: [
          { name: 'refused_requests_of_all', columnNames: ['refused_at', 'id'] },
          { name: 'refused_requests_by_time', columnNames: ['account_id', 'refused_at', 'id'] },
          { name: 'refused_requests_of_request_id', columnNames: ['request_id', 'refused_at', 'id'] },
        ],
      }),
    );
    for (const index of OPERATOR_LIST_INDEXES) await queryRunner.query(createIndex(index));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const { name } of OPERATOR_LIST_INDEXES) await queryRunner.query(`DROP INDEX IF EXISTS "${name}"`);
    await queryRunner.dropTable('refused_requests');
  }
}
