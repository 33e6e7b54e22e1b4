import { Module } from '@nestjs/common';
import { AppModule, bootstrap } from 'chat-streaming-service';
import { AcmeProtocol } from './acme-protocol.js';
import { ApiTokenStrategy } from './api-token.strategy.js';
import { GatewayProtocol } from './gateway-protocol.js';
import { PromptsModule } from './prompts/prompts.module.js';

@Module({})
class ExampleModule {}

await bootstrap(() => ({
  module: ExampleModule,
  imports: [
    AppModule.register({
      protocols: [new AcmeProtocol(), new GatewayProtocol()],
      strategies: [ApiTokenStrategy],
    }),
    PromptsModule,
  ],
}));
