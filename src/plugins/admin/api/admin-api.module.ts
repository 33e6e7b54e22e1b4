import { Module } from '@nestjs/common';
import { AccountsModule } from '../../../accounts/accounts.module.js';
import { DashboardModule } from '../../dashboard/dashboard.module.js';
import { PartOf } from '../../../platform/http/surface/part-of.decorator.js';
import { UsageReportsModule } from '../../../usage/reports/usage-reports.module.js';
import { AccountAccessController } from './accounts/account-access.controller.js';
import { AccountsController } from './accounts/accounts.controller.js';
import { AuditController } from './audit.controller.js';
import { InvitationsController } from './invitations.controller.js';
import { AccountKeysController, KeysController } from './keys/keys.controller.js';
import { WireKeys } from './keys/wire-keys.js';
import { OperatorKeysController } from './operator-keys.controller.js';
import { Creations } from './shared/creations.js';
import { UsageController } from './usage.controller.js';

/** The API for operators. */
@PartOf('admin')
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
