"""Starlette below uvicorn: the files below $ROOT, or a route that shows the path it was given."""

import os

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles


async def show(request):
    path = request.path_params["path"]
    return Response(b"resolved /" + path.encode("utf-8", "surrogatepass"))


files = Starlette(routes=[Mount("/", StaticFiles(directory=os.environ["ROOT"]))])
route = Starlette(routes=[Route("/{path:path}", show)])
