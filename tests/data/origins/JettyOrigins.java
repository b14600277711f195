// Jetty: files on the first port, a servlet that shows the path it was given on the second.
// java -cp JARS JettyOrigins.java ROOT PORT PORT

import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

public class JettyOrigins {
    static final class Show extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            String info = request.getPathInfo();
            String path = request.getServletPath() + (info == null ? "" : info);
            response.getOutputStream().write(("resolved " + path).getBytes("UTF-8"));
        }
    }

    public static void main(String[] arguments) throws Exception {
        ResourceHandler files = new ResourceHandler();
        files.setResourceBase(arguments[0]);
        files.setDirectoriesListed(false);
        start(arguments[1], files);
        ServletContextHandler servlet = new ServletContextHandler();
        servlet.setContextPath("/");
        servlet.addServlet(new ServletHolder(new Show()), "/*");
        start(arguments[2], servlet);
    }

    static void start(String port, Handler handler) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(port));
        server.addConnector(connector);
        server.setHandler(handler);
        server.start();
    }
}
