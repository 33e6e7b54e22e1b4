import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Creates the outbox of webhooks: one row for each event and receiver. Adds an index to find the API keys that expire soon. */
export class CreateWebhookDeliveries1766432000000 implements MigrationInterface {
  readonly name = 'CreateWebhookDeliveries1766432000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'webhook_deliveries',
        columns: [
          // The id of the event and the name of the webhook, so that each event reaches each receiver once.
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'event_id', type: 'text' },
          { name: 'webhook', type: 'text' },
          { name: 'type', type: 'text' },
          { name: 'account_id', type: 'text' },
          { name: 'key_id', type: 'text', isNullable: true },
          { name: 'data', type: 'text' },
          { name: 'created_at', type: 'text' },
          { name: 'attempts', type: 'integer', default: 0 },
          // NULL: the event is delivered, or the service has given up.
          { name: 'next_attempt_at', type: 'text', isNullable: true },
          { name: 'give_up_at', type: 'text' },
          { name: 'last_attempt_at', type: 'text', isNullable: true },
          { name: 'last_error', type: 'text', isNullable: true },
          { name: 'delivered_at', type: 'text', isNullable: true },
        ],
        indices: [{ columnNames: ['webhook', 'next_attempt_at'] }, { columnNames: ['created_at', 'id'] }],
      }),
    );
    await queryRunner.query('CREATE INDEX api_keys_expires_at ON api_keys (expires_at, id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX api_keys_expires_at');
    await queryRunner.dropTable('webhook_deliveries');
  }
}
