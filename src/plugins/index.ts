/**
 * The features that are plugins of the service. This is the only file that imports their folders: without its lines and its folder, a
 * plugin is gone. The list is the default export, so that `index.ts` exports only the names for teams.
 */
import { AdminPlugin } from './admin/admin.plugin.js';
import { CompatiblePlugin } from './compatible/compatible.plugin.js';
import { DashboardPlugin } from './dashboard/dashboard.plugin.js';
import { DurablePlugin } from './durable/durable.plugin.js';
import { MetricsPlugin } from './metrics/metrics.plugin.js';
import { ReportsPlugin } from './reports/reports.plugin.js';
import { SingleSignOnPlugin } from './single-sign-on/single-sign-on.plugin.js';
import { TracingPlugin } from './tracing/tracing.plugin.js';
import { WebhooksPlugin } from './webhooks/webhooks.plugin.js';

export { runAdmin } from './admin/commands/run-command.js';
export type { FormProblems } from './dashboard/forms/form-problems.js';
export { PageForm, type FormField } from './dashboard/forms/page-form.js';
export type { Page } from './dashboard/layout/layout.js';
export { OperatorOnly } from './dashboard/operator/operator-actions.js';
export { PageController, PostForm } from './dashboard/page-controller.decorator.js';
export { Pages } from './dashboard/pages.js';

export default [
  ReportsPlugin,
  SingleSignOnPlugin,
  CompatiblePlugin,
  DurablePlugin,
  WebhooksPlugin,
  DashboardPlugin,
  AdminPlugin,
  MetricsPlugin,
  TracingPlugin,
];
