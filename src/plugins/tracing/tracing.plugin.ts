import { ChatModule } from '../../plugin-api/core/chat.js';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { Tracing } from './tracing.js';

/** Traces of requests and of attempts at providers, which OpenTelemetry sends. */
@ChatPlugin({ name: 'tracing', compatibility: '^1', imports: [ChatModule], providers: [Tracing] })
export class TracingPlugin {}
