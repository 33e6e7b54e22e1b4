import { AcmePlugin } from './acme-protocol.plugin.js';
import { AnswerLengthsPlugin } from './answer-lengths.plugin.js';
import { CertificatePlugin } from './certificate-strategy.plugin.js';
import { CompanyPlugin } from './company-credentials.plugin.js';
import { CompletionsPlugin } from './completions.plugin.js';
import { DigestsPlugin } from './digests.plugin.js';
import { EchoPlugin } from './echo-protocol.plugin.js';
import { FramesPlugin } from './frames-protocol.plugin.js';
import { GatewayPlugin } from './gateway-protocol.plugin.js';
import { GuardrailPlugin } from './guardrail.plugin.js';
import { JobsPlugin } from './jobs-protocol.plugin.js';
import { JwtPlugin } from './jwt-strategy.plugin.js';
import { LinesPlugin } from './lines-protocol.plugin.js';
import { MemoryLimitsPlugin } from './memory-limit-store.plugin.js';
import { ModelLimitsPlugin } from './model-limits.plugin.js';
import { MonthlyBudgetPlugin } from './monthly-budget.plugin.js';
import { PromptsPagePlugin } from './prompts-page.plugin.js';
import { PromptsPlugin } from './prompts.plugin.js';
import { ProxySignInPlugin } from './proxy-sign-in.plugin.js';
import { RedactorPlugin } from './redactor.plugin.js';
import { RegistryPlugin } from './registry-models.plugin.js';
import { ResponseCachePlugin } from './response-cache.plugin.js';
import { SpendingPagePlugin } from './spending-page.plugin.js';
import { SpendingPlugin } from './spending.plugin.js';
import { SummariesPlugin } from './summaries.plugin.js';
import { TeamLimitsPlugin } from './team-limits.plugin.js';
import { TranslatorPlugin } from './translator.plugin.js';
import { WebhookPlugin } from './webhook.plugin.js';

/** All examples together. The redactor comes before the guardrail, so it sees a request first and the text last. */
export const PLUGINS = [
  AcmePlugin,
  LinesPlugin,
  EchoPlugin,
  GatewayPlugin,
  JobsPlugin,
  FramesPlugin,
  CompanyPlugin,
  JwtPlugin,
  CertificatePlugin,
  MemoryLimitsPlugin,
  ModelLimitsPlugin,
  MonthlyBudgetPlugin,
  TeamLimitsPlugin,
  WebhookPlugin,
  RegistryPlugin,
  SummariesPlugin,
  TranslatorPlugin,
  DigestsPlugin,
  CompletionsPlugin,
  ResponseCachePlugin,
  RedactorPlugin,
  GuardrailPlugin,
  PromptsPlugin,
  PromptsPagePlugin,
  ProxySignInPlugin,
  AnswerLengthsPlugin,
  SpendingPlugin,
  SpendingPagePlugin,
];
