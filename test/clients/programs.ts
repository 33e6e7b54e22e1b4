import { join } from 'node:path';
import { NODE, PACKAGES, QUESTION, type Place, type Program } from './program.js';

const PLATFORM = `${process.platform}-${process.arch}`;
const json = (value: object): string => JSON.stringify(value);
/** Clients of Anthropic's kind take the base URL without its last segment. */
const anthropicUrl = ({ baseUrl }: Place): string => baseUrl.replace(/\/v1$/, '');
const questionWithImage = ({ image }: Place): string =>
  image === undefined ? QUESTION : `${QUESTION} Look at ${image}`;
const claudeEnvironment = (place: Place) => ({
  ANTHROPIC_BASE_URL: anthropicUrl(place),
  ANTHROPIC_AUTH_TOKEN: place.key,
  ANTHROPIC_MODEL: place.model,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
});

export const PROGRAMS: readonly Program[] = [
  {
    name: 'Codex',
    takesImages: true,
    command: ({ baseUrl, key, model, home, image }) => ({
      file: NODE,
      args: [
        ...[join(PACKAGES, '@openai/codex/bin/codex.js'), 'exec', '--skip-git-repo-check'],
        ...['--dangerously-bypass-approvals-and-sandbox', ...(image === undefined ? [] : [`--image=${image}`])],
        ...['--', QUESTION],
      ],
      env: { CODEX_HOME: join(home, '.codex'), CHAT_API_KEY: key },
      files: {
        '.codex/config.toml': [
          ...[`model = "${model}"`, 'model_provider = "chat"', 'check_for_update_on_startup = false'],
          ...['[model_providers.chat]', 'name = "Chat"', `base_url = "${baseUrl}"`, 'env_key = "CHAT_API_KEY"'],
          ...['wire_api = "responses"', '[analytics]', 'enabled = false'],
        ].join('\n'),
      },
    }),
  },
  {
    name: 'Claude Code',
    // The model reads an image with a tool.
    takesImages: true,
    command: (place) => ({
      file: join(PACKAGES, `@anthropic-ai/claude-code-${PLATFORM}`, 'claude'),
      args: ['-p', '--allowedTools', 'Bash,Read', '--', questionWithImage(place)],
      env: claudeEnvironment(place),
    }),
  },
  {
    name: 'opencode',
    takesImages: true,
    command: ({ baseUrl, key, model, image }) => ({
      file: join(PACKAGES, `opencode-${PLATFORM}`, 'bin', 'opencode'),
      args: ['run', QUESTION, ...(image === undefined ? [] : ['--file', image])],
      env: {
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      },
      files: {
        '.config/opencode/opencode.json': json({
          ...{ autoupdate: false, share: 'disabled', permission: 'allow' },
          ...{ model: `chat/${model}`, small_model: `chat/${model}` },
          provider: {
            chat: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Chat',
              options: { baseURL: baseUrl, apiKey: key },
              models: {
                [model]: {
                  name: 'Agent',
                  attachment: true,
                  modalities: { input: ['text', 'image'], output: ['text'] },
                },
              },
            },
          },
        }),
      },
    }),
  },
  {
    name: 'Qwen Code',
    takesImages: false,
    command: ({ baseUrl, key, model }) => ({
      file: NODE,
      args: [join(PACKAGES, '@qwen-code/qwen-code/cli.js'), '--auth-type', 'openai', '--yolo', '-p', QUESTION],
      env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model, QWEN_TELEMETRY_ENABLED: 'false' },
    }),
  },
  {
    name: 'pi',
    takesImages: true,
    command: ({ baseUrl, key, model, image }) => ({
      file: NODE,
      args: [
        ...[join(PACKAGES, '@earendil-works/pi-coding-agent/dist/cli.js'), '-p', '--provider', 'chat'],
        ...['--model', model, ...(image === undefined ? [] : [`@${image}`]), QUESTION],
      ],
      env: { CHAT_API_KEY: key, PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1', PI_OFFLINE: '1' },
      files: {
        '.pi/agent/models.json': json({
          providers: {
            chat: {
              ...{ baseUrl, api: 'openai-completions', apiKey: '$CHAT_API_KEY' },
              models: [
                { id: model, name: 'Agent', input: ['text', 'image'], contextWindow: 200_000, maxTokens: 64_000 },
              ],
            },
          },
        }),
      },
    }),
  },
  {
    name: 'Continue',
    takesImages: false,
    command: ({ baseUrl, key, model }) => ({
      file: NODE,
      args: [join(PACKAGES, '@continuedev/cli/dist/cn.js'), '-p', '--auto', QUESTION],
      env: { CONTINUE_CLI_ENABLE_TELEMETRY: '0' },
      files: {
        '.continue/config.yaml': json({
          ...{ name: 'Chat', version: '1.0.0', schema: 'v1' },
          models: [
            {
              ...{ name: 'Agent', provider: 'openai', model, apiBase: baseUrl, apiKey: key },
              ...{ roles: ['chat'], capabilities: ['tool_use'] },
            },
          ],
        }),
      },
    }),
  },
  {
    name: 'Cline',
    takesImages: false,
    command: ({ baseUrl, key, model }) => ({
      file: join(PACKAGES, `@cline/cli-${PLATFORM}`, 'bin', 'cline'),
      args: [QUESTION],
      // Without this, a daemon of its own outlives the program.
      env: { CLINE_SESSION_BACKEND_MODE: 'local', CLINE_NO_AUTO_UPDATE: '1' },
      files: {
        '.cline/data/settings/global-settings.json': json({ telemetryOptOut: true }),
        '.cline/data/settings/providers.json': json({
          ...{ version: 1, lastUsedProvider: 'openai-compatible' },
          providers: {
            'openai-compatible': {
              settings: { provider: 'openai-compatible', apiKey: key, model, baseUrl },
              ...{ updatedAt: '2026-11-27T00:00:00.000Z', tokenSource: 'manual' },
            },
          },
        }),
      },
    }),
  },
];

/** The agents of sdk-agent.mjs. */
const SDKS = [
  ...['openai', 'openai responses', 'openai agents, chat completions', 'openai agents, responses', 'anthropic'],
  ...['AI SDK, chat completions', 'AI SDK, responses', 'AI SDK, messages', 'langchain', 'claude agent SDK'],
];

export const SDK_AGENTS = SDKS.map((name): Program => ({
  name,
  takesImages: name !== 'claude agent SDK',
  command: (place) => ({
    file: NODE,
    args: [
      ...[join(import.meta.dirname, 'sdk-agent.mjs'), name, place.baseUrl, place.key, place.model],
      ...(place.image === undefined ? [] : [place.image]),
    ],
    env: name === 'claude agent SDK' ? claudeEnvironment(place) : {},
  }),
}));
