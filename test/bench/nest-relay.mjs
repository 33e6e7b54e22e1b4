// The lean relay as an otherwise empty handler of Nest, to show the price of Nest. It has one `@Sse()` POST route, like the
// service, and reads the provider like the lean relay. It has no guards, pipes, validation, records or logs. One read of the
// provider becomes one event, as in the service. It never pauses the provider, because an Observable cannot be paused.
//
//   node test/bench/nest-relay.mjs           with the Express adapter of Nest, which also parses the body
//   node test/bench/nest-relay.mjs lean      with the adapter of the service
import 'reflect-metadata';
import { Body, Controller, HttpCode, Module, RequestMethod, Sse } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Observable } from 'rxjs';
import { LeanExpressAdapter } from '../../dist/platform/http/routing/lean-express-adapter.js';
import { Relayed } from './relayed.mjs';

class RelayController {
  stream(request) {
    return new Observable((subscriber) => {
      const send = (content, done) => subscriber.next({ data: JSON.stringify({ content, done }) });
      const sendAll = (contents) => {
        if (contents.length > 0) send(contents.join(''), false);
      };
      const relayed = new Relayed(request, {
        onStart: () => {},
        onContents: sendAll,
        onEnd: (contents) => {
          sendAll(contents);
          send('', true);
          subscriber.complete();
        },
        onFailure: () => subscriber.error(new Error('The provider failed.')),
      });
      return () => relayed.stop();
    });
  }
}

class RelayModule {}

// What the compiler of TypeScript makes of decorators.
const method = Object.getOwnPropertyDescriptor(RelayController.prototype, 'stream');
Body()(RelayController.prototype, 'stream', 0);
Sse('chat/stream', { method: RequestMethod.POST })(RelayController.prototype, 'stream', method);
HttpCode(200)(RelayController.prototype, 'stream', method);
Controller('api/v1')(RelayController);
Module({ controllers: [RelayController] })(RelayModule);

const isLean = process.argv[2] === 'lean';
const adapter = isLean ? new LeanExpressAdapter() : new ExpressAdapter();
const app = await NestFactory.create(RelayModule, adapter, { logger: false });
const server = app.getHttpServer();
// The service passes the requests to Express itself, so its adapter does not.
if (isLean) server.on('request', app.getHttpAdapter().getInstance());
await app.init();
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', 4096, () =>
  console.log(JSON.stringify({ port: server.address().port })),
);
