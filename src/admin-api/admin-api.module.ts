import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DashboardModule } from '../dashboard/dashboard.module.js';
import { UsageReportsModule } from '../usage/reports/usage-reports.module.js';
import { AccountAccessController } from './accounts/account-access.controller.js';
import { AccountsController } from './accounts/accounts.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { InvitationsController } from './invitations/invitations.controller.js';
import { AccountKeysController } from './keys/account-keys.controller.js';
import { KeysController } from './keys/keys.controller.js';
import { WireKeys } from './keys/wire-keys.js';
import { OperatorKeysController } from './operator-keys/operator-keys.controller.js';
import { Creations } from './shared/creations.js';
import { UsageController } from './usage/usage.controller.js';

/** The API for operators. */
@Module({
  imports: [AccountsModule, DashboardModule, UsageReportsModule],
  controllers: [
    AccountsController,
    AccountAccessController,
    AccountKeysController,
    KeysController,
    InvitationsController,
    UsageController,
    AuditController,
    OperatorKeysController,
  ],
  providers: [Creations, WireKeys],
})
export class AdminApiModule {}
