import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { documentAt, ROOT } from './documents.js';

const DIST = join(ROOT, 'dist');

interface PublicName {
  readonly name: string;
  /** Whether this package declares the name. The others belong to Express, Passport and Preact. */
  readonly isOwn: boolean;
  readonly summary: string;
  readonly tags: readonly string[];
}

/** The exported names of each entry, in alphabetical order. */
const ENTRIES: Readonly<Record<string, string>> = {
  index: `
    Account AccountChange AccountLimit AccountLimits AccountsService AdminCommand Admission AdmissionRequest
    AnswerReader ApiErrors ApiKeysService AppModule AtomicStatements AuditEntry AuditSink CLOCK CONFIG CallContext Caller
    ChatCall ChatCaller ChatPlugin ChatRequest ChatService Clock CompletionHook CompletionPart Config
    ConversationRequest Credential CredentialContext CredentialSource CurrentPrincipal DefinedError Form
    FormField FormProblems Framing Histogram HookContext HttpProtocol InProcessProtocol JsonObject LedgerRow
    Limit LimitStore LimitedByTier LimitedCall MetricFamily MetricsProvider ModelCatalog ModelDefinition
    ModelSource NavigationEntry OpenAiProtocol OpensStream OperatorOnly OutsideApi PLUGIN_CONFIG Page
    PageController PageForm Pages PluginRedis PostForm Principal ProviderEvent ProviderFailure Public
    ReadinessCheck RecordedParts SecurityScheme ServiceError SessionOnly SessionStart Statement StreamFormat StreamPart
    StreamSender Surface TierConfig TokensUsed UpstreamConfig UpstreamRequest UsageFeed UsageRecord UsageReports bootstrap
    credentialsUnavailable defineError endpoint errorEventParts isFromTrustedProxy isText loadConfig ndjson
    optionMembers parseJsonObject providerFailure runAdmin sseEvent streamHeaders tokenCount tokenUsage
    unreadableEventParts
  `,
  testing: `
    Dialect ExpectedAnswer LimitStoreContract OpenedLimitStore ProtocolContract ProviderCall
    RecordedAnswer Script ScriptedProvider TEST_CALL TEST_CONTEXT TEST_MODEL TEST_UPSTREAM
    TestKeyOptions TestService TestServiceOptions TestSession anthropic configFor createTestService
    describeLimitStore describeProtocol gemini ollama openAi openAiResponses waitFor
  `,
  client: `
    ChatClient ChatClientOptions ChatError ChatFailure ChatMessage ChatRequest ChatStream CompleteAnswer
    ConnectionEvent ErrorCode ErrorDetail Model RateLimit RateLimits Receipt StreamOptions StreamState
  `,
};
const NAMES_BY_ENTRY = exportsOf(Object.keys(ENTRIES));
const NAMES = NAMES_BY_ENTRY.get('index') ?? [];

function exportsOf(entries: readonly string[]): ReadonlyMap<string, readonly PublicName[]> {
  const { NodeNext } = ts.ModuleKind;
  const pathOf = (entry: string) => join(DIST, `${entry}.d.ts`);
  const options = { module: NodeNext, target: ts.ScriptTarget.ES2023, skipLibCheck: true };
  const program = ts.createProgram(entries.map(pathOf), options);
  return new Map(entries.map((entry) => [entry, exportsOfFile(program, pathOf(entry))]));
}

function exportsOfFile(program: ts.Program, path: string): readonly PublicName[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error('The package is not built.');
  return checker.getExportsOfModule(module).map((symbol) => {
    const declared = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return {
      name: symbol.name,
      isOwn:
        declared.declarations?.some((declaration) => declaration.getSourceFile().fileName.startsWith(DIST)) === true,
      summary: ts.displayPartsToString(declared.getDocumentationComment(checker)),
      tags: declared.getJsDocTags(checker).map(({ name }) => name),
    };
  });
}

describe('the public API of the package', () => {
  it.each(Object.entries(ENTRIES))('exports the listed names and no others: %s', (entry, list) => {
    const names = NAMES_BY_ENTRY.get(entry)?.map(({ name }) => name);
    expect(names?.sort()).toEqual(list.trim().split(/\s+/));
  });

  it.each(Object.keys(ENTRIES))(
    'has a docstring for each name of the entry %s, with the version since which it exists',
    (entry) => {
      const undocumented = NAMES_BY_ENTRY.get(entry)?.filter(
        ({ isOwn, summary, tags }) => isOwn && (summary === '' || !tags.includes('since')),
      );
      expect(undocumented?.map(({ name }) => name)).toEqual([]);
    },
  );

  it('marks as experimental the names that docs/versioning.md lists as experimental', () => {
    const names = new Set(NAMES.map(({ name }) => name));
    const rows = documentAt('docs/versioning.md').text.match(/^\|.*\| experimental +\|$/gm) ?? [];
    const listed = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    const marked = NAMES.filter(({ tags }) => tags.includes('experimental')).map(({ name }) => name);
    expect(marked.sort()).toEqual(listed.filter((name) => names.has(name)).sort());
  });
});
