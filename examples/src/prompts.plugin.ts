import { Body, Controller, Get, Injectable, Post } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  AccountsService,
  ApiErrors,
  ChatPlugin,
  CurrentPrincipal,
  defineError,
  ServiceError,
  type AdminCommand,
  type Principal,
} from 'chat-streaming-service';
import { IsString, Length } from 'class-validator';
import {
  Column,
  Entity,
  PrimaryColumn,
  Table,
  type MigrationInterface,
  type QueryRunner,
  type Repository,
} from 'typeorm';

@Entity('acme_prompts')
export class Prompt {
  @PrimaryColumn({ type: 'text', name: 'account_id' })
  accountId!: string;

  @PrimaryColumn({ type: 'text' })
  name!: string;

  @Column({ type: 'text' })
  text!: string;
}

/** Runs once, at the next start of any replica, under the lock of the service. The same code for SQLite and PostgreSQL. */
export class CreateAcmePrompts1795305600000 implements MigrationInterface {
  readonly name = 'CreateAcmePrompts1795305600000';

  async up(queryRunner: QueryRunner): Promise<void> {
    const accounts = { columnNames: ['account_id'], referencedTableName: 'accounts', referencedColumnNames: ['id'] };
    await queryRunner.createTable(
      new Table({
        name: 'acme_prompts',
        columns: [
          { name: 'account_id', type: 'text', isPrimary: true },
          { name: 'name', type: 'text', isPrimary: true },
          { name: 'text', type: 'text' },
        ],
        foreignKeys: [{ ...accounts, onDelete: 'CASCADE' }],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable('acme_prompts');
  }
}

export const PromptTaken = defineError('acme_prompt_taken', {
  status: 409,
  description: 'The account has a prompt of this name.',
});

export class NewPrompt {
  @Length(1, 40, { message: 'must have 1 to 40 characters' })
  @IsString({ message: 'must be a string' })
  readonly name!: string;

  @Length(1, 4_000, { message: 'must have 1 to 4,000 characters' })
  @IsString({ message: 'must be a string' })
  readonly text!: string;
}

/** The prompts that accounts keep to use again. */
@Injectable()
export class Prompts {
  constructor(@InjectRepository(Prompt) private readonly table: Repository<Prompt>) {}

  /** @throws {PromptTaken} */
  async add(accountId: string, { name, text }: NewPrompt): Promise<void> {
    try {
      await this.table.insert({ accountId, name, text });
    } catch (error) {
      if (!(await this.table.existsBy({ accountId, name }))) throw error;
      const details = [{ field: 'name', message: 'is taken' }];
      throw new PromptTaken('There is a prompt of this name.', { details });
    }
  }

  of(accountId: string): Promise<Prompt[]> {
    return this.table.find({ where: { accountId }, order: { name: 'ASC' } });
  }
}

@Controller('prompts')
export class PromptsController {
  constructor(private readonly prompts: Prompts) {}

  @Post()
  @ApiErrors(400, 401, PromptTaken)
  async add(@Body() { name, text }: NewPrompt, @CurrentPrincipal() { accountId }: Principal) {
    await this.prompts.add(accountId, { name, text });
    return { name, text };
  }

  @Get()
  @ApiErrors(401)
  async own(@CurrentPrincipal() { accountId }: Principal) {
    const prompts = await this.prompts.of(accountId);
    return { prompts: prompts.map(({ name, text }) => ({ name, text })) };
  }
}

/** `npm run admin -- prompts list --email E` */
@Injectable()
export class ListPrompts implements AdminCommand {
  static readonly command = { name: 'prompts list', required: { email: 'E' } };

  constructor(
    private readonly accounts: AccountsService,
    private readonly prompts: Prompts,
  ) {}

  async run({ email = '' }: Readonly<Record<string, string | undefined>>) {
    const account = await this.accounts.findByEmail(email);
    if (account === undefined) throw new ServiceError('not_found', `There is no account "${email}".`);
    return (await this.prompts.of(account.id)).map(({ name, text }) => ({ name, text }));
  }
}

@ChatPlugin({
  name: 'prompts',
  compatibility: '^1',
  entities: [Prompt],
  migrations: [CreateAcmePrompts1795305600000],
  providers: [Prompts],
  controllers: [PromptsController],
  exports: [Prompts],
  errors: [PromptTaken],
  admin: { commands: [ListPrompts], providers: [Prompts] },
})
export class PromptsPlugin {}
