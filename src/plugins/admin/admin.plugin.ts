import { AccountsModule } from '../../plugin-api/core/accounts.js';
import { PartOf } from '../../plugin-api/core/http.js';
import { UsageReportsModule } from '../../plugin-api/core/usage.js';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { ACCOUNT_OPERATIONS } from './operations/account-operations.js';
import { KEY_OPERATIONS } from './operations/key-operations.js';
import { INVITATION_OPERATIONS, OPERATOR_KEY_OPERATIONS } from './operations/operator-operations.js';
import { listAuditEntries, listUsage } from './operations/report-operations.js';
import { controllerOf, OperationRunner } from './api/operation-routes.js';

const usage = controllerOf([listUsage]);
PartOf('reports')(usage);
const audit = controllerOf([listAuditEntries]);
PartOf('audit')(audit);

/** The API for operators. */
@ChatPlugin({
  name: 'admin',
  compatibility: '^1',
  imports: [AccountsModule, UsageReportsModule],
  controllers: [
    controllerOf([...ACCOUNT_OPERATIONS, ...KEY_OPERATIONS, ...INVITATION_OPERATIONS]),
    usage,
    audit,
    controllerOf(OPERATOR_KEY_OPERATIONS),
  ],
  providers: [OperationRunner],
})
export class AdminPlugin {}
