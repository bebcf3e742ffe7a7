package pack

import "strconv"

// sampledQuestion is a question of queries.json and its entry in
// ground_truth.json.
type sampledQuestion struct {
	id    string
	query jsonValue
	truth jsonValue
}

// readSampled reads the two files of a sampled question set: queries.json
// {"total": n, "queries": [{"id": ...}]} and ground_truth.json {id: {...}}.
// Both must hold the same ids, and as many as total says.
func (c *content) readSampled(f func(q sampledQuestion) error) error {
	all, err := c.openJSON("queries.json")
	if err != nil {
		return err
	}
	list, err := all.member("the file", "queries")
	if err != nil {
		return err
	}
	items, err := list.array("queries")
	if err != nil {
		return err
	}
	if err := checkTotal(all, len(items)); err != nil {
		return err
	}
	key, err := c.openJSON("ground_truth.json")
	if err != nil {
		return err
	}
	members, err := key.object("the file")
	if err != nil {
		return err
	}
	truth := make(map[string]jsonValue, len(members))
	for _, m := range members {
		truth[m.key] = m
	}
	for _, item := range items {
		var q struct {
			ID *string `json:"id"`
		}
		if err := item.decode(&q); err != nil {
			return err
		}
		if q.ID == nil {
			return item.errorf("want a value for id")
		}
		t, ok := truth[*q.ID]
		if !ok {
			return item.errorf("question %q is not in ground_truth.json", *q.ID)
		}
		if err := f(sampledQuestion{*q.ID, item, t}); err != nil {
			return err
		}
	}
	for _, m := range members {
		if _, ok := c.caseAt[m.key]; !ok {
			return m.errorf("question %q is not in queries.json", m.key)
		}
	}
	return nil
}

func checkTotal(all jsonValue, n int) error {
	var file struct {
		Total *int `json:"total"`
	}
	if err := all.decode(&file); err != nil {
		return err
	}
	if file.Total == nil || *file.Total != n {
		stated := "nothing"
		if file.Total != nil {
			stated = strconv.Itoa(*file.Total)
		}
		return all.errorf("total says %s, but queries holds %d", stated, n)
	}
	return nil
}
