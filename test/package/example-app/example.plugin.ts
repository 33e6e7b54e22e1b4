import { ChatPlugin } from 'chat-streaming-service';
import { AcmeProtocol } from './acme-protocol.js';
import { ApiTokenStrategy } from './api-token.strategy.js';
import { GatewayProtocol } from './gateway-protocol.js';
import { PromptsModule } from './prompts/prompts.module.js';

@ChatPlugin({
  name: 'example',
  compatibility: '^1',
  imports: [PromptsModule],
  protocols: [AcmeProtocol, GatewayProtocol],
  strategies: [ApiTokenStrategy],
})
export class ExamplePlugin {}
