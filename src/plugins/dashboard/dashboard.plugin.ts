import { Global } from '@nestjs/common';
import { AccountsModule } from '../../plugin-api/core/accounts.js';
import { ModelsModule } from '../../plugin-api/core/models.js';
import { ChatModule } from '../../plugin-api/core/chat.js';
import { DatabaseModule } from '../../plugin-api/core/database.js';
import { HttpModule } from '../../plugin-api/core/http.js';
import { RedisModule } from '../../plugin-api/core/redis.js';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { UsageReportsModule } from '../../plugin-api/core/usage.js';
import { AccountController } from './account.controller.js';
import { ApiKeysController, KEY_CHANGES_CONTROLLERS, AccountKeysController } from './api-keys.controller.js';
import { KeyList } from './api-keys/key-list.js';
import { KeySpends } from './api-keys/key-table.js';
import { AssetsController, PluginAssets } from './assets.controller.js';
import { ActivityController, AuditController } from './audit.controller.js';
import { DocumentsController } from './documents/documents.controller.js';
import { HomeController } from './home.controller.js';
import { LINK_CONTROLLERS } from './links.controller.js';
import { AccountList } from './operator/account-list.js';
import { AccountPage } from './operator/account-page.js';
import { OperatedAccountController } from './operator/account.controller.js';
import { AccountsController } from './operator/accounts.controller.js';
import { InvitationsController, NewAccountController } from './operator/new-account.controller.js';
import { OperatorKeysPageController } from './operator/operator-keys.controller.js';
import { OperatorActions } from './operator/operator-actions.js';
import { RequestsController } from './operator/requests.controller.js';
import { ServiceSpend } from './operator/service-spend.js';
import { ReplicaStatuses } from './operator/status/replica-statuses.js';
import { RoutesController } from './operator/status/routes.controller.js';
import { ServiceStatus } from './operator/status/service-status.js';
import { StatusController } from './operator/status/status.controller.js';
import { WebhooksController } from './operator/webhooks.controller.js';
import { PageErrors } from './page-errors.js';
import { Pages } from './pages.js';
import { PlaygroundController } from './playground/playground.controller.js';
import { RefusalRecorder } from './requests/refusal-recorder.js';
import { RefusedRequests, RequestSearch } from './requests/refused-requests.js';
import { SecureTransport } from './sign-in/secure-transport.js';
import { SignInController } from './sign-in/sign-in.controller.js';
import { AccountLinkController, SignInFailures, SingleSignOnController } from './sign-in/single-sign-on.controller.js';
import { RequestFinder } from './usage/request-finder.js';
import { OwnRequestsController } from './usage/requests.controller.js';
import { UsageReader } from './usage/usage-reader.js';
import { UsagePageController } from './usage/usage-page.controller.js';

const OPERATOR = [AccountList, ServiceSpend, AccountPage, OperatorActions, ServiceStatus, ReplicaStatuses];
const REQUESTS = [RefusedRequests, RefusalRecorder, RequestSearch, RequestFinder];

/** The web application: the pages that this process renders, and the files that the pages use. */
@Global()
@ChatPlugin({
  name: 'dashboard',
  compatibility: '^1',
  imports: [AccountsModule, ChatModule, DatabaseModule, HttpModule, ModelsModule, RedisModule, UsageReportsModule],
  controllers: [
    HomeController,
    DocumentsController,
    AssetsController,
    SignInController,
    SingleSignOnController,
    ...LINK_CONTROLLERS,
    ApiKeysController,
    ...KEY_CHANGES_CONTROLLERS,
    AccountController,
    AccountLinkController,
    PlaygroundController,
    UsagePageController,
    OwnRequestsController,
    InvitationsController,
    OperatorKeysPageController,
    StatusController,
    RoutesController,
    WebhooksController,
    AuditController,
    ActivityController,
    RequestsController,
    AccountsController,
    // Before the page of one account, whose path has the id in the same place.
    NewAccountController,
    OperatedAccountController,
    AccountKeysController,
  ],
  providers: [
    Pages,
    PluginAssets,
    KeyList,
    KeySpends,
    ...REQUESTS,
    PageErrors,
    UsageReader,
    SecureTransport,
    SignInFailures,
    ...OPERATOR,
  ],
  exports: [Pages],
})
export class DashboardPlugin {}
