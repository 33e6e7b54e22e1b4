import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Creates the memory of the `Idempotency-Key` of the API for operators. */
export class CreateOperatorRequests1766431001000 implements MigrationInterface {
  readonly name = 'CreateOperatorRequests1766431001000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'operator_requests',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'request_hash', type: 'text' },
          { name: 'created_id', type: 'text' },
          { name: 'requested_at', type: 'text' },
        ],
        indices: [{ columnNames: ['requested_at'] }],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable('operator_requests');
  }
}
