import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ModelsModule } from '../models/models.module.js';
import { ObservabilityModule } from '../observability/observability.module.js';
import { UsageReportsModule } from '../usage/reports/usage-reports.module.js';
import { AccountController } from './account/account.controller.js';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { KeyEditingController } from './api-keys/key-editing.controller.js';
import { KeyList } from './api-keys/key-list.js';
import { KeySpends } from './api-keys/key-spends.js';
import { PluginAssets } from './assets/plugin-assets.js';
import { AssetsController } from './assets/assets.controller.js';
import { ActivityController } from './audit/activity.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { HomeController } from './home/home.controller.js';
import { LinksController } from './links/links.controller.js';
import { AccountChangesController } from './operator/account-changes.controller.js';
import { NewAccountController } from './operator/new-account.controller.js';
import { AccountPage } from './operator/account-page.js';
import { OperatedAccountController } from './operator/account.controller.js';
import { AccountList } from './operator/account-list.js';
import { AccountsController } from './operator/accounts.controller.js';
import { InvitationsController } from './operator/links/invitations.controller.js';
import { OperatorKeysPageController } from './operator/operator-keys/operator-keys.controller.js';
import { OperatorLog } from './operator/operator-log.js';
import { ServiceSpend } from './operator/service-spend.js';
import { RequestsController } from './operator/requests/requests.controller.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { WebhooksController } from './operator/webhooks/webhooks.controller.js';
import { StatusController } from './operator/status/status.controller.js';
import { Pages } from './pages.js';
import { PlaygroundController } from './playground/playground.controller.js';
import { SecureTransport } from './sign-in/secure-transport.js';
import { SignInController } from './sign-in/sign-in.controller.js';
import { AccountLinkController } from './single-sign-on/account-link.controller.js';
import { SignInFailures } from './single-sign-on/sign-in-failures.js';
import { SingleSignOnController } from './single-sign-on/single-sign-on.controller.js';
import { RefusedPageController } from './usage/refused-page.controller.js';
import { RequestsPageController } from './usage/requests-page.controller.js';
import { UsagePageController } from './usage/usage-page.controller.js';

const OPERATOR = [AccountList, ServiceSpend, AccountPage, OperatorLog];

/** The web application: the pages that this process renders, and the files that the pages use. */
@Module({
  imports: [AccountsModule, ModelsModule, ObservabilityModule, UsageReportsModule, WebhooksModule],
  controllers: [
    HomeController,
    AssetsController,
    SignInController,
    SingleSignOnController,
    LinksController,
    ApiKeysController,
    KeyEditingController,
    AccountController,
    AccountLinkController,
    PlaygroundController,
    UsagePageController,
    RequestsPageController,
    RefusedPageController,
    InvitationsController,
    OperatorKeysPageController,
    StatusController,
    WebhooksController,
    AuditController,
    ActivityController,
    RequestsController,
    AccountsController,
    // Before the pages of one account, whose path has the id in the same place.
    NewAccountController,
    OperatedAccountController,
    AccountChangesController,
  ],
  providers: [Pages, PluginAssets, KeyList, KeySpends, SecureTransport, SignInFailures, ...OPERATOR],
  exports: [Pages],
})
export class DashboardModule {}
