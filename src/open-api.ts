import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { VERSION } from './common/version.js';

/** Serves the description of the interface: `/api/docs` for people, `/api/openapi.json` for programs. */
export function serveOpenApi(app: INestApplication): void {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Chat Streaming Service')
    .setDescription('Streams chat completions of AI language models as server-sent events.')
    .setVersion(VERSION)
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'opaque', description: 'An API key.' })
    .build();
  SwaggerModule.setup('api/docs', app, () => SwaggerModule.createDocument(app, base), {
    jsonDocumentUrl: 'api/openapi.json',
    customSiteTitle: 'Chat Streaming Service',
  });
}
