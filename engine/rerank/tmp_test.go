package rerank
import ("testing";"time";"fmt";"strings";"os";"slices";"github.com/touchstone-eval/touchstone/engine/models/onnx")
func TestTmp(t *testing.T){
 var ps []Passage
 for i:=0;i<24;i++{ ps=append(ps,Passage{ID:fmt.Sprint(i),Text:strings.Repeat(fmt.Sprintf("word%d about the otter number %d crossing. ",i,i*i),5+i*2)}) }
 for _,be:=range strings.Split(os.Getenv("BE"),","){
 for _,b:=range []int{8,2}{
  if be==onnx.ORT&&b>1{continue}
  c,err:=OpenModel("/work/shared/models/ce3-int8",ModelOptions{Batch:b,Backend:be}); if err!=nil{t.Fatal(err)}
  s:=time.Now()
  a,err:=c.Judge(t.Context(),"where does the otter cross?",ps); if err!=nil{t.Fatal(err)}
  d1:=time.Since(s); s=time.Now()
  r:=slices.Clone(ps); slices.Reverse(r)
  x,err:=c.Judge(t.Context(),"where does the otter cross?",r[:13]); if err!=nil{t.Fatal(err)}
  d2:=time.Since(s)
  same:=true
  for i:=range x { if x[i]!=a[len(ps)-1-i]{same=false} }
  t.Log(be,b,d1/24,d2/13,same,a[:3],x[:3])
 }}
}
