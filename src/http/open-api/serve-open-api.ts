import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { VERSION } from '../../common/version.js';

/** Serves the description of the API: `/api/docs` for people, `/api/openapi.json` for programs. */
export function serveOpenApi(app: INestApplication): void {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Chat Streaming Service')
    .setDescription('Streams chat completions of AI language models as server-sent events.')
    .setVersion(VERSION)
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'opaque', description: 'An API key.' })
    .build();
  let document: OpenAPIObject | undefined;
  let json: Buffer | undefined;
  const documentOnce = (): OpenAPIObject => (document ??= SwaggerModule.createDocument(app, base));
  app.getHttpAdapter().get('/api/openapi.json', (_: Request, response: Response) => {
    // Anyone can request this document. The library would generate the JSON again for each request, and its YAML at a
    // higher cost.
    json ??= Buffer.from(JSON.stringify(documentOnce()));
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', json.length);
    response.end(json);
  });
  SwaggerModule.setup('api/docs', app, documentOnce, { raw: [], customSiteTitle: 'Chat Streaming Service' });
}
